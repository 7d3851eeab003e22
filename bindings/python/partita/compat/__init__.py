"""Other libraries' names on top of Partita: `partita.compat.nvmath` for nvmath.distributed."""
