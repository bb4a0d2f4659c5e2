"""Boards: rocband beside its competitors. ``run(quick)`` fills the cells, writes a page and figures."""
