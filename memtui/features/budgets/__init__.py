"""How much agents may use before they are asked to stop."""
