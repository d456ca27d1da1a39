"""What a curator needs: what changed, merging texts, an editor of their own, health; nothing here draws."""
