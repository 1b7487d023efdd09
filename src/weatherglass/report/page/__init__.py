"""The page of a run, `report.html`: results in their layout, the details in compressed blocks, the script's data."""
