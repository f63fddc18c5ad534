"""Mail: one letter to one person, sent once the transaction that posted it has committed.

Owns the schema `mail`. A *letter* is a template, a language and the values that the template asks for; a *postman*
carries it to the mail server, or, on a developer's machine without one, into a *mailbox*, a folder that a page shows.

Invariants: a letter that cannot be rendered, or whose address is none, is refused when it is posted, not when it is
sent. Whom it is for and what it says stands in one sealed column, and nowhere else: not in jobs, facts or logs; when
it is sent, that column is emptied. A letter may arrive twice when a process dies at the wrong moment, under the same
Message-ID. A link in a letter leads to us: values carry paths.
"""
