"""The four checks, one in each module. Each takes a look and gives a finding."""
