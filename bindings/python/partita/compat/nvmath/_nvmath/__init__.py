"""What stands in the place of nvmath itself, and of cuda.core, where they are not installed: no more than programs of
nvmath.distributed and their tests take of them."""
