"""The contracts between the rules and the world, and the records that cross them."""
