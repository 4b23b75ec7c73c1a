"""What every room needs: element types, errors, source locations."""
