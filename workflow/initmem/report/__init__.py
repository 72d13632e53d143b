"""What people look at: the figures and the page."""
