"""A real PostgreSQL that needs nothing installed: the default when no `DATABASE_URL` is given.

Promise: `Cluster(home).start()` gives a running server on the data in `home`, or one sentence that says why not.
Nothing listens on the network. What was committed survives a kill -9 of everything, and the next start recovers it.
Two never run on one folder. The server does not outlive the process that started it.

    with Cluster(home) as cluster:
        cluster.url()                                    the runtime's login
        cluster.url(user=SUPERUSER, database="scratch")  for migrations and tests
    find_server(home)                                    the one that another process of ours runs, if any

What lies where:

    home/lock            held for as long as a cluster is started; names the process
    home/postgres.log    what the server said
    home/postgres/       belongs to the server's user: data/ and socket/

PostgreSQL refuses to run as root. Started by root it runs as an unprivileged user, from a copy of the binaries that
this user can read. It cannot reach below a closed folder, and we never open one: in that case `home/postgres` is a
link to a folder that it can reach.
"""

from admitone.kernel.embedded.binaries import default_home, make_home, server_account, tool
from admitone.kernel.embedded.cluster import SETTINGS, Cluster
from admitone.kernel.embedded.problems import EmbeddedProblem
from admitone.kernel.embedded.processes import spawn
from admitone.kernel.embedded.server import DATABASE, RUNTIME_LOGIN, SUPERUSER, Server, find_server

__all__ = [
    "DATABASE",
    "RUNTIME_LOGIN",
    "SETTINGS",
    "SUPERUSER",
    "Cluster",
    "EmbeddedProblem",
    "Server",
    "default_home",
    "find_server",
    "make_home",
    "server_account",
    "spawn",
    "tool",
]
