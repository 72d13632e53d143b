"""Data sets: archives brought and read, and the prepared arrays that trainings read."""
