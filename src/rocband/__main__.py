"""The command line: ``python -m rocband``."""

from rocband.cli import main

if __name__ == "__main__":
    main()
