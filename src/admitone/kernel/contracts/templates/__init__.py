"""The kernel's own pages: the reference and the error page. Jinja2, escaped by default."""

from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

_environment = Environment(
    loader=PackageLoader("admitone.kernel.contracts"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


@cache
def template(name: str) -> Template:
    return _environment.get_template(name)


@cache
def source(name: str) -> str:
    """A file that is served as it is."""
    loader = _environment.loader
    assert loader is not None
    return loader.get_source(_environment, name)[0]
