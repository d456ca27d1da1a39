"""Workers: a command or model of the user's that does what rules cannot, without tools, paths or handles."""
