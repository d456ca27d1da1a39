"""Who agrees to what is proposed: rules of the user, and votes from a chat."""
