"""Write the report."""
