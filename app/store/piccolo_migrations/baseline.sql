-- The tables of version 0.2.0, which `app.store.tables` describes. What comes later is a migration of its own.

CREATE TABLE tenant (
    id uuid PRIMARY KEY,
    slug text NOT NULL UNIQUE,
    name text NOT NULL,
    amqp boolean NOT NULL DEFAULT false,
    active boolean NOT NULL DEFAULT true,
    created_at bigint NOT NULL,
    broker_access_applied boolean NOT NULL DEFAULT true,
    probabilities boolean NOT NULL DEFAULT false,
    types_off json NOT NULL DEFAULT '[]',
    max_queues integer NOT NULL DEFAULT 10,
    named_vhost text NOT NULL DEFAULT ''
);

CREATE TABLE unbooked (
    tenant_id uuid NOT NULL REFERENCES tenant(id) ON DELETE CASCADE,
    match_id uuid NOT NULL,
    seq bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant_id, match_id)
);
CREATE INDEX unbooked_match ON unbooked (match_id);

CREATE TABLE booking_gap (
    until_seq bigint PRIMARY KEY,
    after_seq bigint NOT NULL,
    tenant_id uuid NOT NULL,
    match_id uuid NOT NULL
);

CREATE TABLE refused_recovery (
    key_id uuid PRIMARY KEY,
    tenant_id uuid NOT NULL,
    due_at bigint NOT NULL
);

CREATE TABLE tenant_cursor (
    tenant_id uuid PRIMARY KEY REFERENCES tenant(id) ON DELETE CASCADE,
    seq bigint NOT NULL,
    holder text,
    epoch integer NOT NULL DEFAULT 0,
    expires_at bigint NOT NULL DEFAULT 0,
    state text NOT NULL DEFAULT '',
    last_alive_at bigint NOT NULL DEFAULT 0,
    dropped bigint NOT NULL DEFAULT 0,
    notified_heartbeat bigint NOT NULL DEFAULT -1,
    notice_pending boolean NOT NULL DEFAULT false,
    bound_queues text NOT NULL DEFAULT '',
    dropped_at bigint NOT NULL DEFAULT 0,
    dropped_before bigint NOT NULL DEFAULT 0,
    former_holders text[] NOT NULL DEFAULT '{}'
);

CREATE TABLE api_key (
    id uuid PRIMARY KEY,
    tenant_id uuid NOT NULL REFERENCES tenant(id) ON DELETE CASCADE,
    hash bytea NOT NULL UNIQUE,
    hint text NOT NULL,
    label text NOT NULL,
    scopes text[] NOT NULL,
    sports text[] NOT NULL,
    networks text[] NOT NULL DEFAULT '{}',
    rate_limit_rpm integer NOT NULL,
    finished_only boolean NOT NULL,
    operator boolean NOT NULL,
    active boolean NOT NULL DEFAULT true,
    created_at bigint NOT NULL,
    revoked_at bigint,
    replaced_by uuid,
    last_used_at bigint,
    reference text
);
CREATE INDEX api_key_tenant ON api_key (tenant_id);
CREATE UNIQUE INDEX api_key_reference ON api_key (tenant_id, reference);

CREATE TABLE audit (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at bigint NOT NULL,
    actor text NOT NULL,
    action text NOT NULL,
    tenant_id uuid,
    subject text NOT NULL,
    details json NOT NULL
);
CREATE INDEX audit_subject ON audit (subject, id);
CREATE INDEX audit_tenant ON audit (tenant_id, id);

CREATE TABLE portal_user (
    id uuid PRIMARY KEY,
    tenant_id uuid NOT NULL REFERENCES tenant(id) ON UPDATE CASCADE ON DELETE CASCADE,
    email text NOT NULL,
    name text NOT NULL,
    role text NOT NULL,
    active boolean NOT NULL DEFAULT true,
    created_at bigint NOT NULL,
    last_sign_in_at bigint,
    password_hash text,
    totp_secret bytea,
    totp_pending bytea,
    totp_step bigint NOT NULL DEFAULT -1,
    wrong_codes integer NOT NULL DEFAULT 0,
    operator_role text
);
CREATE INDEX portal_user_tenant_id ON portal_user (tenant_id);
CREATE UNIQUE INDEX portal_user_email ON portal_user (email) WHERE active;

CREATE TABLE portal_link (
    id uuid PRIMARY KEY,
    user_id uuid NOT NULL REFERENCES portal_user(id) ON UPDATE CASCADE ON DELETE CASCADE,
    hash bytea NOT NULL UNIQUE,
    purpose text NOT NULL,
    without_second_factor boolean NOT NULL DEFAULT false,
    created_at bigint NOT NULL,
    expires_at bigint NOT NULL,
    ended_at bigint
);
CREATE INDEX portal_link_user_id ON portal_link (user_id);

CREATE TABLE portal_session (
    id uuid PRIMARY KEY,
    user_id uuid NOT NULL REFERENCES portal_user(id) ON UPDATE CASCADE ON DELETE CASCADE,
    hash bytea NOT NULL UNIQUE,
    created_at bigint NOT NULL,
    last_seen_at bigint NOT NULL,
    address text NOT NULL,
    user_agent text NOT NULL,
    password_attempts integer NOT NULL DEFAULT 0
);
CREATE INDEX portal_session_user_id ON portal_session (user_id);

CREATE SEQUENCE match_number;

CREATE TABLE match (
    id uuid PRIMARY KEY,
    number bigint NOT NULL UNIQUE,
    status text NOT NULL,
    home text NOT NULL,
    away text NOT NULL,
    event text NOT NULL,
    home_id integer,
    away_id integer,
    tournament_id integer,
    scheduled_at bigint,
    started_at bigint,
    finished_at bigint,
    suspended text NOT NULL DEFAULT '',
    last_arrived_at bigint NOT NULL DEFAULT 0,
    last_stamp bigint NOT NULL DEFAULT 0,
    last_seq bigint NOT NULL DEFAULT 0,
    state json NOT NULL,
    best_of smallint NOT NULL DEFAULT 1,
    score_home smallint NOT NULL DEFAULT 0,
    score_away smallint NOT NULL DEFAULT 0,
    map_name text NOT NULL DEFAULT '',
    -- When it begins or began, as far as that is known; what nobody knows comes last.
    sort_time bigint NOT NULL
        GENERATED ALWAYS AS (coalesce(scheduled_at, started_at, finished_at, 9223372036854775807)) STORED,
    -- Not what is over and was never played.
    in_lists boolean NOT NULL GENERATED ALWAYS AS
        (status NOT IN ('finished', 'cancelled') OR started_at IS NOT NULL OR score_home + score_away > 0) STORED,
    closed_at bigint,
    reprice_at bigint
) WITH (fillfactor = 70);
CREATE INDEX match_away ON match (away_id, status, finished_at);
CREATE INDEX match_away_number ON match (away_id, number);
CREATE INDEX match_finished ON match (finished_at) WHERE finished_at IS NOT NULL;
CREATE INDEX match_home ON match (home_id, status, finished_at);
CREATE INDEX match_home_number ON match (home_id, number);
CREATE INDEX match_in_lists ON match (status, sort_time, number) WHERE in_lists;
-- Its columns change with a match's lifecycle only, so that the frequent writes (state, last_arrived_at,
-- stamps) stay updates in place.
CREATE INDEX match_status ON match (status, scheduled_at);
CREATE INDEX match_tournament ON match (tournament_id, status, scheduled_at);
CREATE INDEX match_tournament_number ON match (tournament_id, number);

CREATE TABLE match_count (
    status text NOT NULL,
    shard smallint NOT NULL,
    matches bigint NOT NULL,
    PRIMARY KEY (status, shard)
);

-- Counts are kept in shards, so that transactions seldom wait for each other, and always taken in the same
-- order, so that two never wait in a circle.
CREATE FUNCTION count_match() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        INSERT INTO match_count (status, shard, matches)
        SELECT one.status, pg_backend_pid() % 16, sum(one.change)
        FROM (VALUES (OLD.status, OLD.in_lists, -1), (NEW.status, NEW.in_lists, 1))
            AS one (status, in_lists, change)
        WHERE one.in_lists
        GROUP BY one.status
        HAVING sum(one.change) <> 0
        ORDER BY one.status
        ON CONFLICT (status, shard) DO UPDATE SET matches = match_count.matches + excluded.matches;
        RETURN NULL;
    END
    $$;
CREATE TRIGGER match_counted AFTER INSERT OR DELETE ON match FOR EACH ROW EXECUTE FUNCTION count_match();
CREATE TRIGGER match_recounted AFTER UPDATE ON match FOR EACH ROW
    WHEN (OLD.status <> NEW.status OR OLD.in_lists <> NEW.in_lists) EXECUTE FUNCTION count_match();

CREATE TABLE match_reference (
    reference text PRIMARY KEY,
    match_id uuid NOT NULL,
    request json NOT NULL
);

CREATE TABLE market (
    match_id uuid NOT NULL,
    type_id integer NOT NULL,
    specifiers text NOT NULL,
    status smallint NOT NULL,
    odds numeric NOT NULL,
    probability double precision NOT NULL,
    "group" text NOT NULL DEFAULT '',
    reason text NOT NULL DEFAULT '',
    result text,
    void_reason_id integer,
    rests_on text NOT NULL DEFAULT '',
    settled_by text NOT NULL DEFAULT '',
    opened_at bigint NOT NULL DEFAULT 0,
    priced_at bigint NOT NULL DEFAULT 0,
    offered_until bigint NOT NULL DEFAULT 0,
    first_opened_at bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (match_id, type_id, specifiers)
) WITH (fillfactor = 80);
CREATE INDEX market_open ON market (match_id) WHERE status IN (1, -1);

CREATE TABLE round (
    match_id uuid NOT NULL,
    id integer NOT NULL,
    map smallint NOT NULL,
    number smallint NOT NULL,
    void boolean NOT NULL DEFAULT false,
    body json NOT NULL,
    PRIMARY KEY (match_id, id)
);

CREATE TABLE timeline_event (
    match_id uuid NOT NULL,
    id integer NOT NULL,
    map smallint NOT NULL,
    round smallint NOT NULL,
    void boolean NOT NULL DEFAULT false,
    body json NOT NULL,
    PRIMARY KEY (match_id, id)
);

CREATE TABLE ledger_entry (
    id bigint PRIMARY KEY,
    match_id uuid NOT NULL,
    type_id integer NOT NULL,
    specifiers text NOT NULL,
    at bigint NOT NULL,
    body json NOT NULL
);
CREATE INDEX ledger_entry_at ON ledger_entry (at);
CREATE INDEX ledger_entry_match ON ledger_entry (match_id, id);
CREATE INDEX ledger_entry_reversed ON ledger_entry (match_id, id) 
    WHERE (body->>'new_status' = 'pending' AND body->'void_window' IS NULL)
        OR body->>'window_rolled_back' = 'true';

CREATE SEQUENCE change_seq;

CREATE TABLE change (
    seq bigint PRIMARY KEY,
    match_id uuid NOT NULL,
    number bigint NOT NULL,
    entity text NOT NULL,
    key text NOT NULL,
    frame text NOT NULL,
    message text NOT NULL,
    at bigint NOT NULL,
    envelope_seq bigint NOT NULL,
    prev_seq bigint NOT NULL,
    body json NOT NULL,
    arrived_at bigint NOT NULL DEFAULT 0
);
CREATE INDEX change_fixture ON change (at) WHERE message = 'fixture_change';
CREATE INDEX change_match ON change (match_id, seq);

-- Takes the match's row, then the log's lock (always in this order, so that two writers cannot wait for each
-- other), and only then `wanted` numbers. The lock is held until the transaction is visible to everybody:
-- whoever gets higher numbers commits later. The numbers do not roll back, so a failed transaction leaves a
-- hole, which harms nobody.
CREATE FUNCTION take_change_numbers(
    of_match uuid, wanted bigint, OUT first bigint, OUT last_stamp bigint, OUT last_seq bigint
) LANGUAGE plpgsql AS $$
    BEGIN
        SELECT m.last_stamp, m.last_seq INTO STRICT last_stamp, last_seq
        FROM match m WHERE m.id = of_match FOR UPDATE;
        PERFORM pg_advisory_xact_lock(7232651);
        first := nextval('change_seq');
        IF wanted > 1 THEN
            PERFORM setval('change_seq', first + wanted - 1);
        END IF;
    END
    $$;

CREATE TABLE past_fixture (
    seq bigint PRIMARY KEY,
    match_id uuid NOT NULL,
    number bigint NOT NULL,
    at bigint NOT NULL,
    envelope_seq bigint NOT NULL,
    body json NOT NULL
);
CREATE INDEX past_fixture_at ON past_fixture (at);
CREATE INDEX past_fixture_match ON past_fixture (match_id);

CREATE TABLE past_seq (
    match_id uuid NOT NULL,
    kind text NOT NULL,
    key text NOT NULL,
    seq bigint NOT NULL,
    PRIMARY KEY (match_id, kind, key)
);

CREATE TABLE log_offset (
    match_id uuid PRIMARY KEY,
    instance text NOT NULL,
    next_offset bigint NOT NULL,
    last_batch_at bigint NOT NULL,
    last_message_id text NOT NULL DEFAULT '',
    has_gap boolean NOT NULL DEFAULT false,
    log_began bigint NOT NULL DEFAULT 0,
    first_line text NOT NULL DEFAULT '',
    another_log boolean NOT NULL DEFAULT false
);

CREATE TABLE log_pending (
    match_id uuid NOT NULL,
    begin_offset bigint NOT NULL,
    end_offset bigint NOT NULL,
    body bytea NOT NULL,
    instance text NOT NULL,
    arrived_at bigint NOT NULL,
    kept_at bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (match_id, instance, begin_offset)
);

CREATE TABLE log_parked (
    message text PRIMARY KEY,
    match_id uuid NOT NULL,
    instance text NOT NULL,
    begin_offset bigint,
    end_offset bigint,
    body bytea NOT NULL,
    arrived_at bigint NOT NULL,
    parked_at bigint NOT NULL,
    error text NOT NULL
);

CREATE TABLE log_sender (
    match_id uuid NOT NULL,
    source text NOT NULL,
    server text NOT NULL,
    instance text NOT NULL,
    peer text NOT NULL,
    map text NOT NULL,
    state text NOT NULL,
    why text NOT NULL,
    claims boolean NOT NULL,
    first_seen bigint NOT NULL,
    last_seen bigint NOT NULL,
    end_offset bigint,
    last_line text NOT NULL,
    unread_lines bigint NOT NULL DEFAULT 0,
    unread_line text NOT NULL DEFAULT '',
    PRIMARY KEY (match_id, source)
);

CREATE TABLE worker_beat (
    worker text PRIMARY KEY,
    kind text NOT NULL,
    at bigint NOT NULL,
    reaches_broker boolean NOT NULL DEFAULT true
);

CREATE TABLE database_timeline (
    id integer PRIMARY KEY,
    timeline bigint NOT NULL,
    mark bigint NOT NULL DEFAULT 0,
    at bigint NOT NULL DEFAULT 0,
    head bigint NOT NULL DEFAULT 0,
    head_at bigint NOT NULL DEFAULT 0,
    known_seq bigint NOT NULL DEFAULT 0,
    known_at bigint NOT NULL DEFAULT 0
);

CREATE TABLE operator_command (
    actor text NOT NULL,
    reference text NOT NULL,
    match_id uuid NOT NULL,
    at bigint NOT NULL,
    request json NOT NULL,
    PRIMARY KEY (actor, reference)
);
CREATE INDEX operator_command_match ON operator_command (match_id);

CREATE TABLE match_command (
    match_id uuid NOT NULL,
    revision integer NOT NULL,
    at bigint NOT NULL,
    actor text NOT NULL,
    person text NOT NULL,
    command json NOT NULL,
    before json NOT NULL,
    after json NOT NULL,
    consent_by text,
    undone_by integer,
    PRIMARY KEY (match_id, revision)
);

CREATE TABLE consent_request (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    match_id uuid NOT NULL,
    at bigint NOT NULL,
    actor text NOT NULL,
    person text NOT NULL,
    reference text,
    command json NOT NULL,
    fingerprint text NOT NULL,
    expires_at bigint NOT NULL,
    outcome text,
    decided_at bigint,
    decided_by text,
    reason text NOT NULL DEFAULT '',
    revision integer
);
CREATE INDEX consent_request_match ON consent_request (match_id, id);
CREATE INDEX consent_request_reference ON consent_request (person, reference);
CREATE INDEX consent_request_waiting ON consent_request (expires_at) WHERE outcome IS NULL;

CREATE TABLE alert (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind text NOT NULL,
    match_id uuid,
    tenant text NOT NULL DEFAULT '',
    subject text NOT NULL DEFAULT '',
    detail text NOT NULL,
    since bigint NOT NULL,
    ended_at bigint,
    seen_at bigint,
    seen_by text,
    taken_at bigint,
    taken_by text,
    ended_by text
);
CREATE INDEX alert_match ON alert (match_id, id);
CREATE INDEX alert_since ON alert (since);
-- One open alert of a kind about one thing. NULLs would be distinct in a plain unique index.
CREATE UNIQUE INDEX alert_open
    ON alert (kind, coalesce(match_id, '00000000-0000-0000-0000-000000000000'), tenant, subject)
    WHERE ended_at IS NULL;

CREATE TABLE recovery_job (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_id uuid NOT NULL REFERENCES tenant(id) ON DELETE CASCADE,
    kind text NOT NULL,
    request_id text NOT NULL,
    after bigint NOT NULL,
    node_id text,
    of_match uuid,
    token bigint NOT NULL,
    state text NOT NULL,
    scheduled_at bigint NOT NULL,
    started_at bigint,
    finished_at bigint,
    due_at bigint NOT NULL DEFAULT 0,
    holder text,
    attempts integer NOT NULL DEFAULT 0,
    steps integer NOT NULL DEFAULT 0,
    steps_done integer NOT NULL DEFAULT 0,
    envelopes bigint NOT NULL DEFAULT 0,
    error text NOT NULL DEFAULT ''
);
CREATE INDEX recovery_job_open ON recovery_job (id) WHERE state IN ('scheduled', 'running');
CREATE INDEX recovery_job_request ON recovery_job (tenant_id, request_id, id);
CREATE INDEX recovery_job_tenant ON recovery_job (tenant_id, id);

CREATE TABLE recovery_slot (
    tenant_id uuid NOT NULL REFERENCES tenant(id) ON DELETE CASCADE,
    node text NOT NULL,
    token bigint NOT NULL,
    expires_at bigint NOT NULL,
    PRIMARY KEY (tenant_id, node)
);

CREATE TABLE category (
    id integer PRIMARY KEY,
    folded text NOT NULL,
    parent integer,
    body json NOT NULL
);
CREATE INDEX category_folded ON category (folded text_pattern_ops);

CREATE TABLE tournament (
    id integer PRIMARY KEY,
    folded text NOT NULL,
    parent integer,
    body json NOT NULL
);
CREATE INDEX tournament_folded ON tournament (folded text_pattern_ops);
CREATE INDEX tournament_lan ON tournament (((body->>'is_lan')::boolean), id);
CREATE INDEX tournament_parent ON tournament (parent);
CREATE INDEX tournament_starts ON tournament (((body->>'starts_at')::bigint), id);
CREATE INDEX tournament_tier ON tournament ((body->>'tier'), id);

CREATE TABLE team (
    id integer PRIMARY KEY,
    folded text NOT NULL,
    parent integer,
    body json NOT NULL
);
CREATE INDEX team_active ON team (((body->>'active')::boolean), id);
CREATE INDEX team_folded ON team (folded text_pattern_ops);
CREATE INDEX team_region ON team (lower(body->>'region'), id);

CREATE TABLE player (
    id integer PRIMARY KEY,
    folded text NOT NULL,
    parent integer,
    body json NOT NULL
);
CREATE INDEX player_account ON player (((body->>'account')::bigint));
CREATE INDEX player_folded ON player (folded text_pattern_ops);
CREATE INDEX player_parent ON player (parent);

CREATE TABLE soccer_competitor (
    id integer PRIMARY KEY,
    folded text NOT NULL,
    parent integer,
    body json NOT NULL
);
CREATE INDEX soccer_competitor_folded ON soccer_competitor (folded text_pattern_ops);

CREATE TABLE soccer_tournament (
    id integer PRIMARY KEY,
    folded text NOT NULL,
    parent integer,
    body json NOT NULL
);
CREATE INDEX soccer_tournament_folded ON soccer_tournament (folded text_pattern_ops);

CREATE TABLE name_trigram (
    entrant_table text NOT NULL,
    trigram text COLLATE "C" NOT NULL,
    id integer NOT NULL,
    trigrams integer NOT NULL,
    PRIMARY KEY (entrant_table, trigram, id)
);
CREATE INDEX name_trigram_id ON name_trigram (entrant_table, id);

-- Two blanks at the end: every place in the name begins a trigram.
CREATE FUNCTION trigrams_of(folded text) RETURNS SETOF text LANGUAGE sql IMMUTABLE STRICT AS $$
    SELECT DISTINCT substr(' ' || left(folded, 200) || '  ', place, 3)
    FROM generate_series(1, length(left(folded, 200)) + 1) AS place
    $$;
CREATE FUNCTION store_trigrams() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        IF TG_OP = 'UPDATE' AND OLD.folded = NEW.folded AND OLD.id = NEW.id THEN
            RETURN NULL;
        END IF;
        IF TG_OP <> 'INSERT' THEN
            DELETE FROM name_trigram WHERE entrant_table = TG_TABLE_NAME AND id = OLD.id;
        END IF;
        IF TG_OP <> 'DELETE' THEN
            INSERT INTO name_trigram (entrant_table, trigram, id, trigrams)
            SELECT TG_TABLE_NAME, trigram, NEW.id, count(*) OVER () FROM trigrams_of(NEW.folded) AS trigram;
        END IF;
        RETURN NULL;
    END
    $$;
CREATE TRIGGER player_trigrams AFTER INSERT OR UPDATE OR DELETE ON player
    FOR EACH ROW EXECUTE FUNCTION store_trigrams();
CREATE TRIGGER team_trigrams AFTER INSERT OR UPDATE OR DELETE ON team
    FOR EACH ROW EXECUTE FUNCTION store_trigrams();
CREATE TRIGGER tournament_trigrams AFTER INSERT OR UPDATE OR DELETE ON tournament
    FOR EACH ROW EXECUTE FUNCTION store_trigrams();

CREATE TABLE team_map (
    match_id uuid NOT NULL,
    map smallint NOT NULL,
    slot text NOT NULL,
    team text NOT NULL,
    team_id integer,
    map_name text NOT NULL,
    finished_at bigint NOT NULL,
    body json NOT NULL,
    PRIMARY KEY (match_id, map, slot)
);
CREATE INDEX team_map_name ON team_map (map_name, finished_at);
CREATE INDEX team_map_team_id ON team_map (team_id, finished_at) WHERE team_id IS NOT NULL;

CREATE TABLE player_map (
    match_id uuid NOT NULL,
    map smallint NOT NULL,
    account bigint NOT NULL,
    name text NOT NULL,
    team text NOT NULL,
    map_name text NOT NULL,
    finished_at bigint NOT NULL,
    body json NOT NULL,
    PRIMARY KEY (match_id, map, account, name)
);
CREATE INDEX player_map_account ON player_map (account, finished_at);

CREATE SEQUENCE rating_version;

CREATE TABLE rating_event (
    reference text PRIMARY KEY,
    at bigint NOT NULL,
    series text NOT NULL,
    team_a integer NOT NULL,
    team_b integer,
    body json NOT NULL,
    outcome json
);
CREATE INDEX rating_event_a ON rating_event (team_a, at);
CREATE INDEX rating_event_b ON rating_event (team_b, at);
CREATE INDEX rating_event_order ON rating_event (at, reference);
CREATE INDEX rating_event_series ON rating_event (series, at) WHERE series <> '';

CREATE TABLE team_rating (
    team_id integer PRIMARY KEY,
    points double precision NOT NULL,
    spread double precision NOT NULL,
    at bigint NOT NULL,
    maps integer NOT NULL,
    anchored boolean NOT NULL,
    stands boolean NOT NULL,
    version bigint NOT NULL
);
CREATE INDEX team_rating_points ON team_rating (points);
