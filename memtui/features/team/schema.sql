-- What must be one for a team. Members call the functions and touch no table: each function runs with the owner's
-- rights, and who calls is `session_user`, the login, whatever a client says or which role it takes. Records and votes
-- are only ever added. Refusals have the codes MT403, MT404, MT409 and MT500.
BEGIN;
DO $$ BEGIN
    IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'memtui_member') THEN
        CREATE ROLE memtui_member NOLOGIN;
    END IF;
END $$;
CREATE SCHEMA memtui;
SET LOCAL search_path = memtui, pg_catalog;

CREATE TABLE meta (version integer NOT NULL);
INSERT INTO meta VALUES (2);

CREATE FUNCTION clock_ms() RETURNS bigint LANGUAGE sql AS $$
    SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint
$$;

CREATE FUNCTION known() RETURNS TABLE (version integer, login text) LANGUAGE sql AS $$
    SELECT version, session_user::text FROM meta
$$;

-- Stores: whose records are kept, by the login and the name of a ledger of theirs.

CREATE TABLE store (
    login name, name text CHECK (length(name) <= 200), joined bigint NOT NULL DEFAULT clock_ms(), gone bigint, PRIMARY KEY (login, name)
);

CREATE FUNCTION join_as(place text) RETURNS void LANGUAGE sql AS $$
    INSERT INTO store VALUES (session_user, place) ON CONFLICT (login, name) DO UPDATE SET gone = NULL
$$;

CREATE FUNCTION leave(place text) RETURNS void LANGUAGE sql AS $$
    UPDATE store SET gone = clock_ms() WHERE login = session_user AND name = place
$$;

CREATE FUNCTION is_joined(place text) RETURNS boolean LANGUAGE sql AS $$
    SELECT EXISTS (SELECT 1 FROM store WHERE login = session_user AND name = place AND gone IS NULL)
$$;

CREATE FUNCTION stores() RETURNS TABLE (login text, name text, joined bigint, gone bigint) LANGUAGE sql AS $$
    SELECT login::text, name, joined, gone FROM store ORDER BY 1, 2
$$;

-- Claims: one owner each, for as long as they say that they are there. Each new owner has a higher fence.

CREATE TABLE claim (
    key text PRIMARY KEY CHECK (length(key) <= 300), login name NOT NULL, holder text NOT NULL, fence bigint NOT NULL,
    until bigint NOT NULL, at bigint NOT NULL, note text NOT NULL, state text NOT NULL DEFAULT '',
    CHECK (length(holder) <= 100 AND length(note) <= 500 AND length(state) <= 100)
);

-- Whether a due time may be taken: one of a schedule that has come.
CREATE FUNCTION has_come(place text) RETURNS boolean LANGUAGE sql AS $$
    SELECT CASE WHEN place NOT LIKE 'run:%' THEN true WHEN place !~ '^run:[0-9]{1,18}:[0-9]{1,15}$' THEN false
        ELSE split_part(place, ':', 3)::bigint <= clock_ms() END
$$;

CREATE FUNCTION take(place text, who text, what text) RETURNS bigint LANGUAGE sql AS $$
    INSERT INTO claim AS c SELECT place, session_user, who, 1, clock_ms() + 30000, clock_ms(), what
    WHERE has_come(place)
    ON CONFLICT (key) DO UPDATE SET (login, holder, fence, until, at, note)
        = (session_user, who, c.fence + 1, clock_ms() + 30000, clock_ms(), what)
    WHERE c.state = '' AND (c.until < clock_ms() OR (c.login = session_user AND c.holder = who))
    RETURNING fence
$$;

CREATE FUNCTION hold(place text, who text, mine bigint, ms bigint) RETURNS boolean LANGUAGE sql AS $$
    UPDATE claim SET until = greatest(until, clock_ms() + least(ms, 3600000))
    WHERE key = place AND login = session_user AND holder = who AND fence = mine RETURNING true
$$;

CREATE FUNCTION finish(place text, who text, mine bigint, how text) RETURNS boolean LANGUAGE sql AS $$
    UPDATE claim SET state = how
    WHERE key = place AND login = session_user AND holder = who AND fence = mine AND state IN ('', how) RETURNING true
$$;

-- Schedules: any member may pause one; who made it, or the owner, removes it.

CREATE TABLE schedule (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL UNIQUE, spec text NOT NULL,
    zone text NOT NULL, words text NOT NULL, target text NOT NULL, label text NOT NULL,
    creator name NOT NULL DEFAULT session_user, made bigint NOT NULL DEFAULT clock_ms(),
    upto bigint NOT NULL DEFAULT clock_ms(), paused text NOT NULL DEFAULT '', failures integer NOT NULL DEFAULT 0,
    CHECK (name ~ '^[A-Za-z0-9_.-]{1,40}$' AND length(spec) <= 200 AND length(zone) <= 100),
    CHECK (length(words) <= 20000 AND length(target) <= 200 AND length(label) <= 200 AND length(paused) <= 1000),
    CHECK (jsonb_typeof(words::jsonb) = 'array'
        AND jsonb_array_length(words::jsonb) = jsonb_array_length(jsonb_path_query_array(
            words::jsonb, 'strict $[*] ? (@.type() == "string")')) AND words::jsonb <> '[]')
);

CREATE FUNCTION add_schedule(called text, spec text, zone text, words text, target text, label text)
RETURNS bigint LANGUAGE sql AS $$
    INSERT INTO schedule (name, spec, zone, words, target, label) VALUES (called, spec, zone, words, target, label)
    RETURNING id
$$;

CREATE FUNCTION schedules() RETURNS TABLE (
    id bigint, name text, spec text, zone text, words text, target text, label text, creator text, made bigint,
    upto bigint, paused text, failures integer, run text, state text, note text
) LANGUAGE sql AS $$
    SELECT s.id, s.name, s.spec, s.zone, s.words, s.target, s.label, s.creator::text, s.made, s.upto, s.paused,
        s.failures, c.key, coalesce(nullif(c.state, ''), 'taken by ' || c.login), c.note
    FROM schedule s LEFT JOIN LATERAL (
        SELECT * FROM claim WHERE key LIKE 'run:' || s.id || ':%' ORDER BY at DESC LIMIT 1
    ) c ON true ORDER BY s.id
$$;

CREATE FUNCTION remove_schedule(number bigint) RETURNS boolean LANGUAGE sql AS $$
    DELETE FROM schedule WHERE id = number AND session_user IN (creator, current_user) RETURNING true
$$;

CREATE FUNCTION pause_schedule(number bigint, why text) RETURNS void LANGUAGE sql AS $$
    UPDATE schedule SET paused = left(why, 1000), failures = CASE why WHEN '' THEN 0 ELSE failures END,
        upto = CASE why WHEN '' THEN clock_ms() ELSE upto END
    WHERE id = number
$$;

CREATE FUNCTION finish_run(number bigint, due bigint, who text, mine bigint, how text, why text)
RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    IF finish('run:' || number || ':' || due, who, mine, how) IS NULL THEN
        RETURN false;
    END IF;
    UPDATE schedule SET failures = CASE how WHEN 'failed' THEN failures + 1 ELSE 0 END, upto = due,
        paused = CASE WHEN how = 'failed' AND failures + 1 >= 5 THEN left(why, 1000) ELSE paused END
    WHERE id = number AND upto < due AND due <= clock_ms();
    RETURN true;
END $$;

-- The journal of each store: only added, in order, each record with the hash of the one before it. Of one that is
-- not whole only the hash is known, which its owner can compare.

CREATE TABLE journal (
    login name, store text, n bigint, at bigint NOT NULL, kind text NOT NULL, body text NOT NULL, prev bytea NOT NULL,
    hash bytea NOT NULL, received bigint NOT NULL DEFAULT clock_ms(), PRIMARY KEY (login, store, n),
    CHECK (length(kind) <= 100 AND length(body) <= 100000)
);
CREATE INDEX journal_received ON journal (received, n);

CREATE FUNCTION head(place text) RETURNS TABLE (n bigint, hash text) LANGUAGE sql AS $$
    SELECT n, encode(hash, 'hex') FROM journal WHERE login = session_user AND store = place ORDER BY n DESC LIMIT 1
$$;

CREATE FUNCTION push(place text, given jsonb) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    one RECORD;
    last RECORD;
BEGIN
    PERFORM FROM store WHERE login = session_user AND name = place AND gone IS NULL FOR UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'This ledger did not join the team.' USING ERRCODE = 'MT403';
    END IF;
    SELECT * INTO last FROM journal r WHERE r.login = session_user AND r.store = place ORDER BY r.n DESC LIMIT 1;
    FOR one IN
        SELECT session_user AS login, place AS store, n, at, kind, body, decode(prev, 'hex') AS prev,
            decode(x.hash, 'hex') AS hash, coalesce(x.whole, true) AS whole
        FROM jsonb_to_recordset(given) x
            (n bigint, at bigint, kind text, body text, prev text, hash text, whole boolean) ORDER BY n
    LOOP
        IF one.n <= coalesce(last.n, 0) THEN
            PERFORM FROM journal r
            WHERE (r.login, r.store, r.n, r.hash) = (session_user, place, one.n, one.hash);
        ELSE
            PERFORM WHERE one.n = coalesce(last.n, 0) + 1
                AND one.prev = coalesce(last.hash, decode(repeat('00', 32), 'hex'))
                AND length(one.hash) = 32 AND (NOT one.whole OR one.hash = sha256(convert_to(one.n::text, 'UTF8') || '\x00'::bytea
                    || convert_to(one.at::text, 'UTF8') || '\x00'::bytea || convert_to(one.kind, 'UTF8')
                    || '\x00'::bytea || convert_to(one.body, 'UTF8') || '\x00'::bytea || one.prev));
        END IF;
        IF NOT FOUND THEN
            RAISE EXCEPTION 'Record % of % is not what follows what the team has.', one.n, place USING ERRCODE = 'MT500';
        END IF;
        IF one.n > coalesce(last.n, 0) THEN
            INSERT INTO journal VALUES (one.login, one.store, one.n, one.at, one.kind, one.body, one.prev, one.hash);
            last := one;
        END IF;
    END LOOP;
    RETURN coalesce(last.n, 0);
END $$;

CREATE FUNCTION records(most integer) RETURNS TABLE (login text, store text, n bigint, at bigint, kind text, body text)
LANGUAGE sql AS $$
    SELECT r.login, r.store, r.n, r.at, r.kind, r.body FROM (
        SELECT login::text, store, n, at, kind, body, received FROM journal ORDER BY received DESC, n DESC LIMIT most
    ) r ORDER BY received, n
$$;

-- Spending: what each member counted, once for what it was for; a real number takes the place of a smaller one.

CREATE TABLE spend (
    login name, key text, ref text, at bigint NOT NULL, amount bigint NOT NULL CHECK (amount BETWEEN 1 AND 1000000000),
    is_real boolean NOT NULL, PRIMARY KEY (login, key, ref), CHECK (length(key) <= 300 AND length(ref) <= 500)
);
CREATE INDEX spend_window ON spend (key, at);

CREATE FUNCTION debit(given jsonb) RETURNS void LANGUAGE sql AS $$
    INSERT INTO spend AS s SELECT session_user, key, ref, at, least(amount, 1000000000), x.real = 1
    FROM jsonb_to_recordset(given) x (key text, ref text, at bigint, amount bigint, real integer)
    ON CONFLICT (login, key, ref) DO UPDATE SET amount = excluded.amount, is_real = true
    WHERE excluded.is_real AND (NOT s.is_real OR excluded.amount > s.amount)
$$;

CREATE FUNCTION spent(what text, begin bigint, until bigint) RETURNS TABLE (counted bigint, guess bigint)
LANGUAGE sql AS $$
    SELECT coalesce(sum(amount) FILTER (WHERE s.is_real), 0)::bigint,
        coalesce(sum(amount) FILTER (WHERE NOT s.is_real), 0)::bigint
    FROM spend s WHERE key = what AND at >= begin AND at < until
$$;

-- Requests: a proposal of one ledger, and what others say to it. Votes are only added; the newest of a person counts.
-- The machine that has the files counts them, and says how it ended.

CREATE TABLE request (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, login name NOT NULL DEFAULT session_user, store text NOT NULL,
    proposal bigint NOT NULL, steps text NOT NULL, title text NOT NULL, patch text NOT NULL, voters jsonb NOT NULL,
    until bigint NOT NULL, at bigint NOT NULL DEFAULT clock_ms(), state text NOT NULL DEFAULT '',
    note text NOT NULL DEFAULT '', UNIQUE (login, store, proposal, steps),
    CHECK (length(store) <= 200 AND length(steps) <= 100 AND length(state) <= 100 AND length(note) <= 1000),
    CHECK (octet_length(voters::text) <= 20000 AND octet_length(title) + octet_length(patch) <= 2000000)
);
CREATE TABLE vote (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, request bigint NOT NULL REFERENCES request,
    person name NOT NULL DEFAULT session_user, answer boolean NOT NULL, at bigint NOT NULL DEFAULT clock_ms()
);
CREATE INDEX vote_request ON vote (request, person, id);

CREATE FUNCTION ask(place text, number bigint, steps text, title text, patch text, voters jsonb, until bigint)
RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
    IF NOT is_joined(place) THEN
        RAISE EXCEPTION 'This ledger did not join the team.' USING ERRCODE = 'MT403';
    END IF;
    INSERT INTO request (store, proposal, steps, title, patch, voters, until)
    VALUES (place, number, steps, title, patch, voters, until) ON CONFLICT DO NOTHING;
    RETURN (SELECT id FROM request r WHERE (r.login, r.store, r.proposal, r.steps) = (session_user, place, number, $3));
END $$;

CREATE FUNCTION asked(place text) RETURNS TABLE (id bigint, proposal bigint, steps text, late boolean)
LANGUAGE sql AS $$
    SELECT id, proposal, steps, until < clock_ms() FROM request WHERE login = session_user AND store = place AND state = '' ORDER BY id
$$;

CREATE FUNCTION votes(number bigint) RETURNS TABLE (person text, answer boolean) LANGUAGE sql AS $$
    SELECT person::text, answer FROM (
        SELECT DISTINCT ON (person) * FROM vote WHERE request = number ORDER BY person, id DESC
    ) v ORDER BY id
$$;

CREATE FUNCTION settle(number bigint, how text, why text) RETURNS void LANGUAGE sql AS $$
    UPDATE request SET state = how, note = why WHERE id = number AND login = session_user AND state = ''
$$;

CREATE FUNCTION requests() RETURNS TABLE (
    id bigint, login text, store text, title text, at bigint, until bigint, voters jsonb, said text, state text, note text
) LANGUAGE sql AS $$
    SELECT id, login::text, store, title, at, until, voters, coalesce((
        SELECT string_agg(person || CASE WHEN answer THEN ' yes' ELSE ' no' END, ', ') FROM votes(r.id)
    ), ''), CASE WHEN state = '' AND until < clock_ms() THEN 'late' ELSE state END, note
    FROM request r WHERE at > clock_ms() - 2592000000
    ORDER BY (login = session_user OR voters ? session_user) DESC, id DESC LIMIT 200
$$;

CREATE FUNCTION request(number bigint) RETURNS TABLE (title text, patch text) LANGUAGE sql AS $$
    SELECT title, patch FROM request WHERE id = number
$$;

CREATE FUNCTION cast_vote(number bigint, yes boolean) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    one RECORD;
BEGIN
    SELECT * INTO one FROM request WHERE id = number FOR SHARE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'The team has no request %.', number USING ERRCODE = 'MT404';
    ELSIF one.login = session_user OR NOT one.voters ? session_user THEN
        RAISE EXCEPTION 'Nobody asked % about request %.', session_user, number USING ERRCODE = 'MT403';
    ELSIF one.state <> '' THEN
        RAISE EXCEPTION 'Request % is % by now. %', number, one.state, one.note USING ERRCODE = 'MT409';
    ELSIF one.until < clock_ms() THEN
        RAISE EXCEPTION 'Request % was to be answered earlier.', number USING ERRCODE = 'MT409';
    END IF;
    INSERT INTO vote (request, answer) VALUES (number, yes);
END $$;

DO $$ DECLARE one regprocedure; BEGIN
    FOR one IN SELECT oid FROM pg_proc WHERE pronamespace = 'memtui'::regnamespace LOOP
        EXECUTE format('ALTER FUNCTION %s SECURITY DEFINER SET search_path = pg_catalog, memtui, pg_temp', one);
    END LOOP;
END $$;
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA memtui FROM PUBLIC;
GRANT USAGE ON SCHEMA memtui TO memtui_member;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA memtui TO memtui_member;
COMMIT;
