"""Problems: what a solver sees of the data, wherever they are kept. Internal."""
