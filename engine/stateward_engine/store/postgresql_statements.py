"""The statements of a ledger in a PostgreSQL database."""

from __future__ import annotations

from typing import Final

from stateward_engine.store.postgresql_link import Statement

# How many rows come with one answer, as the statements say: each answer has its own time, however many there are.
ROWS_PER_ANSWER: Final = 32

# One statement, one round trip, one transaction. The row of the head is what everybody waits for: who comes second
# finds another sequence or chain there, and nothing of his is written. The chain is worked out from the bytes that the
# server has, and comes back to be compared. Receipts come as 64 bytes each: a key, and its goal or zeros.
APPEND: Final = Statement(
    "append",
    """
    WITH moved AS (
        UPDATE head SET sequence = $3::bigint, chain = sha256(chain || $4::bytea)
         WHERE sequence = $1::bigint AND chain = $2::bytea RETURNING chain
    ), kept AS (
        INSERT INTO groups (first, last, record, chain, writer)
        SELECT $1::bigint + 1, $3::bigint, $4::bytea, chain, $5::text FROM moved
        RETURNING sha256($2::bytea || record) AS chain
    ), named AS (
        INSERT INTO receipts (key, goal, sequence)
        SELECT substr($6::bytea, place, 32), nullif(substr($6::bytea, place + 32, 32), decode(repeat('00', 32), 'hex')),
               $3::bigint
          FROM moved, generate_series(1, length($6::bytea), 64) AS place
    )
    SELECT chain, pg_notify($7::text, $5::text) IS NULL FROM kept
    """,
)
# Holds the head in the transaction that the caller has begun.
HOLD: Final = "BEGIN; SELECT FROM head FOR UPDATE"
FORGET: Final = Statement("forget", "DELETE FROM receipts WHERE goal = $1::bytea")
# Of the keys that are kept for a while, all but the newest.
OUTGROWN: Final = Statement(
    "outgrown",
    """
    DELETE FROM receipts WHERE goal IS NULL AND sequence <= (
        SELECT sequence FROM receipts WHERE goal IS NULL ORDER BY sequence DESC OFFSET $1::bigint LIMIT 1)
    """,
)
# What comes after a sequence, at one moment: head and base always, and groups as far as there are any.
AFTER: Final = Statement(
    "after",
    """
    SELECT base.sequence, head.sequence, head.chain, later.first, later.last, later.record, later.chain
      FROM base CROSS JOIN head LEFT JOIN LATERAL (
        SELECT first, last, record, chain FROM groups WHERE first > $1::bigint ORDER BY first LIMIT 32
      ) AS later ON true ORDER BY later.first
    """,
)
BASE: Final = Statement("base", "SELECT sequence, chain, catalogue FROM base")
HELD_BASE: Final = Statement("held_base", "SELECT sequence, chain, catalogue FROM base FOR UPDATE")
STREAMS: Final = Statement("streams", "SELECT file, body FROM streams WHERE file > $1::text ORDER BY file LIMIT 32")
PLACE: Final = Statement(
    "place",
    """
    INSERT INTO streams (file, body) VALUES ($1::text, $2::bytea)
    ON CONFLICT (file) DO UPDATE SET body = excluded.body
    """,
)
REBASE: Final = Statement("rebase", "UPDATE base SET sequence = $1::bigint, chain = $2::bytea, catalogue = $3::bytea")
# What the base before this one covers: who follows slower than that starts anew from the base.
DROP: Final = Statement("drop", "DELETE FROM groups WHERE last <= $1::bigint")
RESTART: Final = Statement("restart", "UPDATE head SET sequence = $1::bigint, chain = $2::bytea")
NAME: Final = Statement("name", "INSERT INTO receipts (key, goal, sequence) VALUES ($1::bytea, $2::bytea, $3::bigint)")
LENGTH: Final = Statement(
    "length",
    "SELECT coalesce(sum(octet_length(record)), 0)::bigint, count(*) FROM groups WHERE first > $1::bigint",
)
HEAD: Final = Statement("head", "SELECT sequence, chain FROM head")
# Every group that is kept, those before the base, too.
EARLIER: Final = Statement(
    "earlier",
    """
    SELECT first, last, record, chain FROM groups WHERE first > $1::bigint ORDER BY first LIMIT 32
    """,
)
