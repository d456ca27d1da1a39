"""The inspector view: cards and a person's decisions about them."""
