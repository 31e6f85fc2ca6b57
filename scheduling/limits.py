"""Every maximum of the service, with its unit in the name, its default and the reason.

Hitting a limit yields a counted outcome or a clear error, never silence.
"""

from typing import Final

# -- recurrences: no input may cost more than a millisecond to refuse ---------------------------
EXPRESSION_CHARS_MAX: Final = 256
FIELD_ITEMS_MAX: Final = 100
NUMBER_DIGITS_MAX: Final = 4
UNION_MEMBERS_MAX: Final = 20
ECHO_CHARS_MAX: Final = 40  # of bad input, in any message
EXCLUSION_DATES_MAX: Final = 10_000  # of a trigger, its calendars included, and of a calendar
CALENDAR_RULES_MAX: Final = 50
CALENDAR_RULE_CHARS_MAX: Final = 16_384  # some 1,800 EXDATEs
CALENDAR_YEAR_MAX: Final = 2399  # a rule without an end stops here; see scheduling/calendars.py
CALENDARS_PER_TRIGGER_MAX: Final = 10
CALENDAR_TRIGGERS_MAX: Final = 1_000  # get a version each when their calendar changes, at once
CALENDAR_SEARCH_US_MAX: Final = 400_000  # one daily, ten weekly or 35 yearly rules that are rare
YEAR_MIN: Final = 1900  # the zone tables and the searches end here
YEAR_MAX: Final = 2499  # 400 Gregorian years beyond any clock this will run under

# -- decisions ---------------------------------------------------------------------------------
COMMIT_ROWS_MAX: Final = 500  # rows a transaction inserts; Spanner's mutation limit, with room
GAP_THRESHOLD_INSTANTS: Final = 100  # a longer `fire_all` range becomes a gap row
TRIGGER_ROWS_MAX: Final = 120  # of one decision: a full `fire_all`, its on-time and range rows
GRACE_MIN_US: Final = 5_000_000
GRACE_MAX_US: Final = 60_000_000
EPSILON_US_DEFAULT: Final = 5_000  # what a machine with NTP keeps, with room
EPSILON_MAX_US: Final = 100_000  # a worse clock makes no decisions
CLOCK_BRACKET_US: Final = 20  # boot, wall, boot read within this are read together
CLOCK_TRIES_MAX: Final = 5  # readings of the clock for one that close together
STEP_QUARANTINE_US: Final = 10_000_000  # no decisions this long after the clock stepped
SMEAR_S_MAX: Final = 3_600
HORIZON_S_DEFAULT: Final = 3_600
HORIZON_S_MAX: Final = 7 * 86_400
OVERLAP_BUFFER_MAX: Final = 100  # `buffer_all` drops beyond it, with a row

# -- attempts ----------------------------------------------------------------------------------
ATTEMPT_BUDGET_DEFAULT: Final = 10  # nine waits of at most 511 s: past a redeploy of the target
ATTEMPT_BUDGET_MAX: Final = 20
RETRY_BASE_US: Final = 1_000_000
RETRY_CAP_US: Final = 300_000_000
UNTRIED_WAIT_US_MIN: Final = 2_000_000  # until a fire that could not be tried is taken up again
UNTRIED_WAIT_US_MAX: Final = 30_000_000  # a lack that lasts: its fires do not keep the store busy
RETRY_WINDOW_S_DEFAULT: Final = 3_600
RETRY_WINDOW_S_MAX: Final = 86_400
RUN_TIMEOUT_S_DEFAULT: Final = 3_600
RUN_TIMEOUT_S_MAX: Final = 7 * 86_400
OUTCOME_WINDOW_S_DEFAULT: Final = 86_400
OUTCOME_WINDOW_S_MAX: Final = 7 * 86_400
TARGET_TIMEOUT_S_DEFAULT: Final = 10
TARGET_TIMEOUT_S_MAX: Final = 60
TARGET_URL_CHARS_MAX: Final = 2_048
SECRET_BYTES_MIN: Final = 24  # Standard Webhooks' bounds for a signing secret
SECRET_BYTES_MAX: Final = 64
CLAIM_MARGIN_US: Final = 5_000_000  # a claim outlives its attempt's timeout by this
SIGNING_SECRETS_MAX: Final = 3  # the current one, and older ones while receivers rotate
CONNECTIONS_MAX: Final = 800  # under the usual 1,024 open files of a process
CONNECTIONS_PER_HOST_MAX: Final = 200  # so that no single target takes them all
KEEP_ALIVE_S: Final = 4.0  # under the 5 s of common servers: they must not close first
DNS_THREADS_MAX: Final = 32
DNS_PROBE_S_MAX: Final = 2.0  # a resolver that works answers for `invalid` at once
DNS_PROBE_EVERY_S: Final = 5.0
INFORMATIONAL_ANSWERS_MAX: Final = 20  # 1xx before the answer; an endless row of them costs CPU
RESPONSE_BYTES_MAX: Final = 64 * 1024  # read only so that the connection can serve again
RESPONSE_READ_S_MAX: Final = 1.0
RETRY_AFTER_S_MAX: Final = 86_400
ATTEMPT_TOKEN_CHARS_MAX: Final = 4_096  # ours have under 1,000; no more is parsed
RECEIVER_IDS_MAX: Final = 100_000  # fire keys that the demo receiver remembers
RECEIVER_BODY_BYTES_MAX: Final = 1024 * 1024  # a 64 KiB payload whose every byte is escaped fits

# -- ownership of targets ------------------------------------------------------------------------
OWNERSHIP_CHECK_S_MAX: Final = 10.0  # from the name to the last byte
OWNERSHIP_BYTES_MAX: Final = 64 * 1024  # room for a thousand tenants on one host
OWNERSHIP_RECHECK_AFTER_S: Final = 27 * 86_400  # three days to mend a host before it lapses
OWNERSHIP_RECHECK_EVERY_S: Final = 86_400
OWNERSHIP_LAPSES_AFTER_S: Final = 30 * 86_400

# -- lanes -------------------------------------------------------------------------------------
RATE_WINDOW_US: Final = 10_000_000
QUOTA_DISPATCH_PER_S_DEFAULT: Final = 100
QUOTA_INFLIGHT_DEFAULT: Final = 1_000
QUOTA_TRIGGERS_DEFAULT: Final = 100_000
QUOTA_DISPATCH_PER_S_MAX: Final = 10_000
QUOTA_INFLIGHT_MAX: Final = 1_000_000
QUOTA_TRIGGERS_MAX: Final = 10_000_000
CATCHUP_RATE_PCT_DEFAULT: Final = 10
GAP_SLICE_ROWS_MAX: Final = 200  # held rows one planner transaction writes
SWEEP_ROWS_MAX: Final = 500  # rows one sweep transaction repairs
SWEEP_AGE_US: Final = 5_000_000  # ready and queued rows older than this are published again

# -- partitions and leases ---------------------------------------------------------------------
PARTITIONS: Final = 256
LEASE_TTL_S_DEFAULT: Final = 6.0
LEASE_TTL_S_MAX: Final = 60.0  # an expiry further away counts as expired: a clock stepped

# -- definitions -------------------------------------------------------------------------------
PAYLOAD_BYTES_MAX: Final = 64 * 1024
NAME_CHARS_MAX: Final = 128
NOTE_CHARS_MAX: Final = 500
MANIFEST_BYTES_MAX: Final = 64 * 1024 * 1024
MANIFEST_DEPTH_MAX: Final = 40  # nested lists and mappings, payloads included
MANIFEST_VALUES_MAX: Final = 1_000_000  # of a file: texts, numbers, lists and mappings; 0.5 GB
UNKNOWN_KEYS_TOLD_MAX: Final = 10  # of one mapping; the rest is counted
SUGGESTED_AMONG_MAX: Final = 1_000  # words that a misspelt one is compared with, 20 ms
MAX_FIRES_MAX: Final = 1_000_000_000

# -- the control API -----------------------------------------------------------------------------
TOKEN_CACHE_US: Final = 5_000_000  # how long another process's revocation may go unnoticed
TOKENS_CACHED_MAX: Final = 10_000
BODY_BYTES_MAX: Final = 256 * 1024  # a payload at its limit with every character escaped fits
APPLY_BODY_BYTES_MAX: Final = 16 * 1024 * 1024
APPLY_MANIFESTS_MAX: Final = 100
APPLY_SELECTORS_MAX: Final = 100
APPLY_CHANGES_MAX: Final = 2_000  # of one request: 3 s, in which no other writer has its turn
APPLY_SUBJECTS_MAX: Final = 25_000  # that its manifests name, selected or not
APPLY_VALUES_MAX: Final = 500_000  # with each trigger's defaults counted as its own
APPLY_CALENDARS_MAX: Final = 100  # each may have 10,000 dates
APPLY_CALENDAR_SEARCH_MS_MAX: Final = 4_000  # ten calendars with the rarest of rules
APPLY_TRIES_MAX: Final = 3  # of a plan that others change while it is made
APPLY_HOSTS_ASKED_MAX: Final = 20  # whose they are, at once: as long as the slowest of them
HOST_CHECKS_MAX: Final = 4  # requests that ask hosts at once, 10 s each, of all API threads
HOST_CHECKS_OF_TENANT_MAX: Final = 2
FILE_NAME_CHARS_MAX: Final = 1_024
BODY_DEPTH_MAX: Final = 40  # nested lists and objects, payloads included
BODY_VALUES_MAX: Final = 200_000  # 100 MB once they are read, whatever few bytes each has
PROBLEMS_TOLD_MAX: Final = 100  # of one request or file; the rest is counted
BODY_S_MAX: Final = 30.0  # from the end of a request's head to the last byte of its body
HEAD_S_MAX: Final = 10.0  # from a request's first byte, or its connection, to the end of its head
HEAD_BYTES_MAX: Final = 64 * 1024  # of a request's line and headers
LINGER_BYTES_MAX: Final = 64 * 1024 * 1024  # dropped behind a refusal, so that it is read
LINGER_S_MAX: Final = 5.0
LINGERING_MAX: Final = 50  # connections that were one too many and wait for their 503 to be read
PARAMETERS_TOLD_MAX: Final = 10  # unknown ones, in one refusal
HEADER_CHARS_MAX: Final = 255  # of an idempotency key or an ETag
PAGE_ROWS_DEFAULT: Final = 100
PAGE_ROWS_MAX: Final = 1_000
ANONYMOUS_REQUESTS_PER_MINUTE: Final = 600  # of one address on routes without a token
READINESS_KEPT_US: Final = 1_000_000  # of one look, which commits a write and waits for the disk
REFUSED_TOKENS_PER_MINUTE: Final = 30  # of one address; more would be guessing
REFUSED_ACTS_PER_MINUTE: Final = 60  # of one principal; each refusal of privilege is audited
GROUP_CALLS_MAX: Final = 64  # that share a transaction; some 50 ms of work at most
PROBE_THREADS: Final = 2  # for health and metrics, which must not wait for the others
API_CONNECTIONS_MAX: Final = 150  # beside a dispatcher's, under 1,024 files of a process
API_THREADS: Final = 16  # changes that wait together share a commit; more only take turns
FIRES_SEARCHED_MAX: Final = 5_000  # of one request with a rare filter, 200 ms; its cursor goes on
CHANGES_OVERLAP_US: Final = 2_000_000  # a commit may become visible so long after its date
EVENTS_SEARCHED_MAX: Final = 5_000  # of one request for a tenant's events
IDEMPOTENCY_KEPT_US: Final = 86_400_000_000
IDEMPOTENCY_SWEEP_ROWS_MAX: Final = 100  # expired keys that a request with a new one deletes

# -- backups -------------------------------------------------------------------------------------
BACKUP_MEMBERS_MAX: Final = 250_000  # the store, and a key for each tenant
BACKUP_CONTENTS_BYTES_MAX: Final = 64 * 1024 * 1024  # the list of so many
BACKUP_KEY_BYTES_MAX: Final = 1024 * 1024

# -- comparisons and forecasts -------------------------------------------------------------------
COMPARED_INSTANTS_MAX: Final = 1_100_000  # of a trigger under two zone data sets: a minutely year
COMPARED_MONTHS_MAX: Final = 120
ADOPTION_COMPARED_MAX: Final = 200_000  # triggers whose due times are remembered: 40 MB
ZONE_ARCHIVE_BYTES_MAX: Final = 64 * 1024 * 1024  # read of an archive, unpacked; tzdata has 4 MB
ZONE_ARCHIVE_ENTRIES_MAX: Final = 20_000  # /usr/share/zoneinfo has 3,600 with its copies
ZONE_FILE_BYTES_MAX: Final = 64 * 1024  # the largest has 4 KB

# -- events --------------------------------------------------------------------------------------
RELAY_ROWS_MAX: Final = 500  # outbox rows or ledger rows that are published at once
RELAY_PAGES_MAX: Final = 4  # of them in one step, a tenth of a second's work
EVENTS_KEPT_MAX: Final = 500_000  # about 300 MB of log; the oldest are forgotten beyond it
HOT_TRIGGERS_MAX: Final = 200_000  # of one forecast of hot seconds
HOT_INSTANTS_MAX: Final = 20_000_000  # more of them shorten the forecast: 3 s of counting
HOT_SMEARED_MAX: Final = 1_000_000  # each costs a hash: 2 s for all
HOT_ADVISED_MAX: Final = 500_000  # instants that are tried under another smear: a hash each
HOT_TRIED_MAX: Final = 10_000_000  # due times of all smears that are tried: 3 s
