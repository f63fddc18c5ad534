"""Faults under load, from a seed: what is killed, paused, cut or filled, and what must hold afterwards.

Promise: whatever breaks, nothing that was acknowledged is lost, nothing happens twice, and all settles by itself once
nothing breaks any more. `make soak` runs it long, `make test` a little of each; a seed that fails is printed and can
be run again.

    installation   a durable PostgreSQL that databases are cloned in
    world          one database and the processes on it; whoever dies is started again
    nemesis        what breaks when, from a seed
    load           clients, what they send and how they judge an answer
    journal        what they sent and what they were told, on disk before they go on
    invariants     what must hold when all has settled
    engine         the invariants of facts, jobs and tenants, for every package
    toy            the toy's load and its invariants
    report         what was done, and what does not hold
    scenarios      one kind of trouble each
"""
