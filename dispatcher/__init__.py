"""Takes fires from lanes and delivers them; the only part that leaves the perimeter."""
