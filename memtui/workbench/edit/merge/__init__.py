"""The conflict screen: your text and somebody else's, decided place by place; no side is lost."""
