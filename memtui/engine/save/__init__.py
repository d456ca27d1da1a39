"""The guarded change of files: compare, keep both texts, announce, commit, or go back."""
