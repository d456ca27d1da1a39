"""What an agent loads when a session starts: tables of what each agent reads, and the machinery that applies them.

`loading` says what a table is, `tables` holds each agent's, and `gathering` turns one into what is loaded here and now.
The rest is what gathering is made of: it knows no agent's name.
"""
