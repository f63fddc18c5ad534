"""Requests in: from bytes to the one struct that a contract takes.

Promise: what is not readable is 400, what is not of the declared form is 422 and says where; nothing that was read
contains a NUL, a lone surrogate or a number beyond its bounds. The usual case, a JSON body and nothing else, is one
call of a decoder that was made once.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import msgspec
from starlette.datastructures import Headers as StarletteHeaders
from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser

from admitone.kernel.contracts.bounds import holds_times
from admitone.kernel.contracts.contract import Contract
from admitone.kernel.contracts.incoming import Incoming
from admitone.kernel.contracts.media import Reads
from admitone.kernel.contracts.refusals import MalformedForm, MalformedJson, UnsupportedMediaType, ValidationFailed
from admitone.kernel.contracts.texts import (
    MOST_FIELDS,
    collected,
    converted_text,
    fields_of_text,
    pairs_of,
    refuse_nul,
    refuse_odd_times,
    validation_failed,
)
from admitone.kernel.contracts.wire import Upload, from_wire, to_wire

Reader = Callable[[Incoming, Mapping[str, str]], Awaitable[Any]]


def reader_of(contract: Contract) -> Reader:
    """How requests of this contract are read, decided once."""
    read = _plain_reader_of(contract)
    if contract.takes is None or not holds_times(contract.takes):
        return read

    async def read_and_look_at_times(incoming: Incoming, in_path: Mapping[str, str]) -> Any:
        request = await read(incoming, in_path)
        refuse_odd_times(request)
        return request

    return read_and_look_at_times


def _plain_reader_of(contract: Contract) -> Reader:
    match contract.reading:
        case Reads.JSON if contract.fields.keys().isdisjoint(contract.path_names):
            return _JsonReader(contract).read
        case Reads.JSON:
            return _JsonAndPathReader(contract).read
        case Reads.FORM:
            return _FormReader(contract).read
        case Reads.MULTIPART:
            return _MultipartReader(contract).read
        case Reads.RAW:
            return _RawReader(contract).read
        case Reads.NOTHING:
            return _TextReader(contract).read


class _JsonReader:
    """The whole request is the body."""

    def __init__(self, contract: Contract) -> None:
        self._limit = contract.max_body_bytes
        self._decode = msgspec.json.Decoder(contract.takes, dec_hook=from_wire).decode

    async def read(self, incoming: Incoming, in_path: Mapping[str, str]) -> Any:  # noqa: ARG002
        return decoded_json(self._decode, await _json_body(incoming, self._limit))


class _JsonAndPathReader:
    """Some fields stand in the path: two structs are read, each as strictly as its source allows, and put together."""

    def __init__(self, contract: Contract) -> None:
        assert contract.takes is not None
        self._takes = contract.takes
        self._limit = contract.max_body_bytes
        in_path = [each for name, each in contract.fields.items() if name in contract.path_names]
        in_body = [each for name, each in contract.fields.items() if name not in contract.path_names]
        self._in_path = tuple(each.name for each in in_path)
        self._in_body = tuple(each.name for each in in_body)
        self._path = _part(contract.takes, in_path)
        self._decode = msgspec.json.Decoder(_part(contract.takes, in_body), dec_hook=from_wire).decode

    async def read(self, incoming: Incoming, in_path: Mapping[str, str]) -> Any:
        body = decoded_json(self._decode, await _json_body(incoming, self._limit))
        path = converted_text(in_path, self._path)
        values = {name: getattr(body, name) for name in self._in_body}
        values |= {name: getattr(path, name) for name in self._in_path}
        try:
            return self._takes(**values)
        except (ValueError, TypeError) as error:
            raise ValidationFailed.at("$", str(error)) from None


def _part(whole: type, fields: list[msgspec.structs.FieldInfo]) -> type[msgspec.Struct]:
    """A struct of some of the fields of another."""
    return msgspec.defstruct(
        whole.__name__,
        [(each.name, each.type, _default(each)) for each in fields],
        rename={each.name: each.encode_name for each in fields},
        kw_only=True,
        frozen=True,
    )


def _default(each: msgspec.structs.FieldInfo) -> Any:
    if each.default_factory is not msgspec.NODEFAULT:
        return msgspec.field(default_factory=each.default_factory)
    return msgspec.field() if each.default is msgspec.NODEFAULT else each.default


class _TextReader:
    """Path and query, which know only text."""

    def __init__(self, contract: Contract) -> None:
        self._takes = contract.takes
        self._fields = fields_of_text(contract)

    async def read(self, incoming: Incoming, in_path: Mapping[str, str]) -> Any:
        if self._takes is None:
            return None
        fields = collected(pairs_of(incoming.query), self._fields) if incoming.query else {}
        return converted_text({**fields, **in_path}, self._takes)


class _RawReader(_TextReader):
    """The body stays as it is; the request struct, if any, comes from path and query."""

    def __init__(self, contract: Contract) -> None:
        super().__init__(contract)
        self._limit = contract.max_body_bytes

    async def read(self, incoming: Incoming, in_path: Mapping[str, str]) -> Any:
        incoming.refuse_large(self._limit)
        incoming.body = await incoming.read(self._limit)
        return await super().read(incoming, in_path)


class _FormReader:
    def __init__(self, contract: Contract) -> None:
        assert contract.takes is not None
        self._takes = contract.takes
        self._limit = contract.max_body_bytes
        self._fields = fields_of_text(contract)

    async def read(self, incoming: Incoming, in_path: Mapping[str, str]) -> Any:
        incoming.refuse_large(self._limit)
        _expect(incoming, Reads.FORM.value)
        body = await incoming.read(self._limit)
        return converted_text({**collected(pairs_of(body), self._fields), **in_path}, self._takes)


class _MultipartReader:
    """A form with files. Starlette's parser spools to disk; we bound the whole, then take each file into memory."""

    def __init__(self, contract: Contract) -> None:
        assert contract.takes is not None
        self._takes = contract.takes
        self._limit = contract.max_body_bytes
        self._fields = fields_of_text(contract)

    async def read(self, incoming: Incoming, in_path: Mapping[str, str]) -> Any:
        incoming.refuse_large(self._limit)
        _expect(incoming, Reads.MULTIPART.value)
        headers = StarletteHeaders(raw=list(incoming.headers.items()))
        chunks = incoming.chunks(self._limit, self._limit)
        try:
            form = await MultiPartParser(headers, chunks, max_fields=MOST_FIELDS, max_part_size=self._limit).parse()  # type: ignore[arg-type]
        except (MultiPartException, KeyError, UnicodeDecodeError):
            raise MalformedForm() from None
        try:
            pairs = [(name, await _taken(value)) for name, value in form.multi_items()]
        finally:
            await form.close()
        return converted_text({**collected(pairs, self._fields), **in_path}, self._takes)


async def _taken(value: str | UploadFile) -> str | Upload:
    if isinstance(value, str):
        return value
    return Upload(
        name=value.filename or "",
        content_type=value.content_type or "application/octet-stream",
        content=await value.read(),
    )


async def _json_body(incoming: Incoming, limit_bytes: int) -> bytes:
    incoming.refuse_large(limit_bytes)
    if incoming.headers.get(b"content-type") != b"application/json":
        _expect(incoming, Reads.JSON.value)
    return await incoming.read(limit_bytes)


def _expect(incoming: Incoming, media_type: str) -> None:
    given, *parameters = incoming.headers.get(b"content-type", b"").decode("latin-1").lower().split(";")
    given = given.strip()
    charsets = [each.partition("=")[2].strip(' "') for each in parameters if each.strip().startswith("charset=")]
    is_json = media_type == Reads.JSON.value and given.startswith("application/") and given.endswith("+json")
    if (given != media_type and not is_json) or any(charset not in ("utf-8", "utf8") for charset in charsets):
        raise UnsupportedMediaType(expected=media_type)


def decoded_json(decode: Callable[[bytes], Any], body: bytes) -> Any:
    try:
        if not body.isascii():
            body.decode()  # msgspec skips unknown fields unseen; bytes that are no text are refused there, too.
        value = decode(body)
    except msgspec.ValidationError as error:
        raise validation_failed(error) from None
    except msgspec.DecodeError as error:
        raise MalformedJson(problem=str(error)) from None
    except UnicodeDecodeError:
        raise MalformedJson(problem="The body is not UTF-8") from None
    except RecursionError:
        raise MalformedJson(problem="The body is nested too deeply") from None
    if b"\\u0000" in body:
        refuse_nul(msgspec.to_builtins(value, enc_hook=to_wire))
    return value
