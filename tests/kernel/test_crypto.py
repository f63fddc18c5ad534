"""Keys with versions, tokens as digests, columns nobody can read or move."""

import base64
import pickle
from dataclasses import replace
from uuid import UUID

import pytest

from admitone.kernel.crypto import (
    CannotOpen,
    KeyRing,
    MalformedSecret,
    Place,
    Versioned,
    digest_of,
    new_secret,
    read_secret,
    same,
    single_line_base64,
)
from admitone.kernel.ids import OrganizationId, uuid7

OLD, NEW = b"o" * 32, b"n" * 32
BEFORE, BETWEEN, AFTER = KeyRing({1: OLD}), KeyRing({1: OLD, 2: NEW}), KeyRing({2: NEW})
HERE = Place("identity.person", "document", uuid7(), uuid7())


def encoded(key: bytes) -> str:
    return base64.b64encode(key).decode()


def test_keys_are_read_from_one_line():
    ring = KeyRing.parse(f"1:{encoded(OLD)}, 2:{encoded(NEW)}")
    assert ring.versions == (2, 1) and ring.current == 2
    assert ring.hmac("x", "p") == BETWEEN.hmac("x", "p")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1",
        ":",
        "1:",
        f"0:{encoded(OLD)}",
        f"256:{encoded(OLD)}",
        f"x:{encoded(OLD)}",
        f"-1:{encoded(OLD)}",
        f"²:{encoded(OLD)}",
        f"1:{encoded(OLD)},1:{encoded(NEW)}",
        f"1:{encoded(OLD)},",
        f"1:{encoded(b'short')}",
        f"1:{encoded(OLD)[:-1]}",
        f"1:{encoded(OLD)}\n"[:20],
    ],
)
def test_malformed_keys_are_refused_without_telling_them(text):
    with pytest.raises(ValueError) as refused:
        KeyRing.parse(text)
    assert encoded(OLD)[:10] not in str(refused.value) and refused.value.__cause__ is None


@pytest.mark.covers("PRV-011")
def test_what_was_stored_before_a_rotation_is_still_found_and_new_rows_use_the_new_key():
    stored = BEFORE.hmac("ana@example.org", "email")
    assert stored in BETWEEN.all_hmacs("ana@example.org", "email")
    assert BETWEEN.hmac("ana@example.org", "email") == BETWEEN.all_hmacs("ana@example.org", "email")[0]
    assert BETWEEN.hmac("ana@example.org", "email").version == 2
    assert BETWEEN.verifies("ana@example.org", "email", stored)


@pytest.mark.covers("PRV-011")
def test_a_retired_key_finds_and_verifies_nothing():
    stored = BEFORE.hmac("ana@example.org", "email")
    assert stored not in AFTER.all_hmacs("ana@example.org", "email")
    assert not AFTER.verifies("ana@example.org", "email", stored)
    assert not AFTER.verifies("ana@example.org", "email", Versioned(2, stored.digest))


@pytest.mark.covers("PRV-011")
def test_the_digest_depends_on_text_purpose_and_key():
    one = BEFORE.hmac("ana", "email")
    assert len(one.digest) == 32 and one == BEFORE.hmac("ana", "email")
    assert (
        len(
            {
                one.digest,
                BEFORE.hmac("ana", "phone").digest,
                BEFORE.hmac("anb", "email").digest,
                AFTER.hmac("ana", "email").digest,
            }
        )
        == 4
    )
    assert not BEFORE.verifies("anb", "email", one)


def test_no_purpose_uses_the_key_itself():
    import hmac

    plain = {hmac.digest(OLD, b"ana", "sha256"), hmac.digest(OLD, b"email", "sha256")}
    assert BEFORE.hmac("ana", "email").digest not in plain


def test_what_was_sealed_opens_in_its_place_also_after_a_rotation():
    sealed = BEFORE.seal(b"AB123456", HERE)
    assert b"AB123456" not in sealed and sealed[0] == 1
    assert BETWEEN.open(sealed, HERE) == b"AB123456"
    assert not BETWEEN.is_current(sealed) and BETWEEN.is_current(BETWEEN.seal(b"", HERE))
    assert BEFORE.seal(b"AB123456", HERE) != sealed


@pytest.mark.parametrize(
    "elsewhere",
    [
        replace(HERE, table="identity.other"),
        replace(HERE, column="other"),
        replace(HERE, organization=uuid7()),
        replace(HERE, organization=None),
        replace(HERE, row=uuid7()),
        replace(HERE, table="identity", column="person.document"),
    ],
)
def test_a_sealed_value_cannot_be_moved_to_another_place(elsewhere):
    with pytest.raises(CannotOpen):
        BEFORE.open(BEFORE.seal(b"AB123456", HERE), elsewhere)


def test_a_changed_or_cut_value_does_not_open():
    sealed = BETWEEN.seal(b"AB123456", HERE)
    for at in range(len(sealed)):
        with pytest.raises(CannotOpen):
            BETWEEN.open(sealed[:at] + bytes([sealed[at] ^ 1]) + sealed[at + 1 :], HERE)
        with pytest.raises(CannotOpen):
            BETWEEN.open(sealed[:at], HERE)


def test_a_value_outlives_its_key_unreadable():
    with pytest.raises(CannotOpen, match="version 1"):
        AFTER.open(BEFORE.seal(b"AB123456", HERE), HERE)


@pytest.mark.covers("PLT-042")
def test_keys_and_secrets_never_show():
    ring, secret = KeyRing.parse(f"1:{encoded(OLD)}"), new_secret("key", None)
    shown = f"{ring!r} {ring} {secret!r} {secret} {read_secret(secret.text)!r}"
    assert not any(part in shown for part in (encoded(OLD), "oooo", OLD.hex(), secret.text, secret.text[-12:]))
    with pytest.raises(TypeError):
        pickle.dumps(ring)


def test_a_secret_says_in_clear_whose_it_is():
    organization = OrganizationId.new()
    made = new_secret("key", organization)
    read = read_secret(made.text)
    assert (read.kind, read.organization) == ("key", organization)
    assert read.digest == made.digest == digest_of(made.text) and len(made.digest) == 32
    assert read_secret(new_secret("inv", None).text).organization is None


def test_a_secret_has_at_least_128_bits_of_chance():
    made = {new_secret("key", None).text.rpartition("_")[2] for _ in range(1000)}
    assert len(made) == 1000
    assert all(len(bytes.fromhex(chance)) * 8 >= 128 for chance in made)


def test_a_secret_does_not_work_for_another_organization():
    made = new_secret("key", OrganizationId(UUID(int=1)))
    assert digest_of(made.text.replace(UUID(int=1).hex, UUID(int=2).hex)) != made.digest


GOOD = "key_0_0123456789abcdef0123456789abcdef01234567"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "key",
        "key_",
        "key__",
        GOOD[:-1],
        GOOD + "0",
        GOOD + "\n",
        " " + GOOD,
        GOOD.upper(),
        GOOD.replace("key", ""),
        GOOD.replace("_0_", "_1_"),
        GOOD.replace("_0_", f"_{'f' * 31}_"),
        GOOD.replace("key", "ké"),
        "\x00",
        "\ud800",
        "key_0_" + "g" * 40,
        "k" * 100_000,
        "key_0_" + "٣" * 40,
    ],
)
def test_a_malformed_secret_is_refused(text):
    with pytest.raises(MalformedSecret):
        read_secret(text)


def test_the_digest_of_anything_can_be_looked_up():
    assert len(digest_of("\ud800")) == 32


@pytest.mark.parametrize("kind", ["", "K", "a_b", "x" * 13, "1a", "é"])
def test_a_kind_of_secret_is_a_short_word(kind):
    with pytest.raises(ValueError, match="kind of secret"):
        new_secret(kind, None)


def test_comparison_tells_same_from_other():
    assert same(b"abc", b"abc") and not same(b"abc", b"abd") and not same(b"abc", b"ab")


@pytest.mark.covers("PLT-042")
@pytest.mark.parametrize("text", ["", "YQ", "YQ==\n", "Y Q==", "YQ\n==", "YR==", "Y-_=", "é", "====", "YQ==YQ=="])
def test_a_key_in_the_environment_is_base64_on_a_single_line(text):
    assert single_line_base64("YQ==") == b"a"
    with pytest.raises(ValueError, match="single line"):
        single_line_base64(text)
