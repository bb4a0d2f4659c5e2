"""The kinds of tables that commands read, one module each: its rows in chunks, and the Python that reads it."""
