-- A request's digest was without a key, and told a payload to whoever guessed it. What is kept of
-- the last day is overwritten: a request that is repeated over the upgrade is taken as a new one.
PRAGMA secure_delete = ON;
DELETE FROM idempotency_key;
PRAGMA secure_delete = OFF;

ALTER TABLE idempotency_key ADD COLUMN shares TEXT NOT NULL DEFAULT '[]';
