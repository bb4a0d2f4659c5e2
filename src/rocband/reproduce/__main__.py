"""Run the experiments."""

from rocband.reproduce.command import main

if __name__ == "__main__":
    main()
