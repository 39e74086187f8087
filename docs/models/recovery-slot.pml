/* The slot of recoveries, their jobs and runs; recovery-slot.md says what is claimed, what was abstracted, and
 * which code each step is.
 *
 * One tenant and one slot, for which REQUESTS requests come. Each Session is a lifetime of a feed process; what
 * it has written may arrive after it has released the tenant, or ended. Each alternative of its loop is one step,
 * and any time may pass between two steps: a process that is stopped is one that takes none.
 */

#ifndef REQUESTS
#define REQUESTS 2     /* at most 3 */
#endif
#ifndef COMMITS
#define COMMITS 1      /* changes of the match while recoveries run */
#endif
#ifndef FAULTS
#define FAULTS 1       /* crashes, and leases that run out under a living session */
#endif
#ifndef CUTS
#define CUTS 1         /* connections that end */
#endif
#ifndef RELEASES
#define RELEASES 1     /* tenants given to another process in good order */
#endif
#ifndef LATE
#define LATE 1         /* statements whose answer is lost, or that the database executes late */
#endif
#ifndef EXPIRIES
#define EXPIRIES 1     /* slots that run out under an open job */
#endif
#define SESSIONS 2     /* more than FAULTS, so that one is left that runs every job */
#define MAX_ATTEMPTS 2
#define NO_SLOT 0

/* The database: jobs, the slot (expires_at > now is `taken`), the lease, the match. Each commit of the match and
 * each replay of it has a timestamp of its own; `live_stamp` has those of the commits. */
mtype = { NO_JOB, SCHEDULED, RUNNING, COMPLETED, FAILED };
mtype job[REQUESTS + 1];
byte token[REQUESTS + 1], attempts[REQUESTS + 1];
byte slot_token, holder, version = 1, stamp = 1, live_stamp[COMMITS + 2];
bool taken, lease_expired;

/* The broker: what each session has written on its connection and is not in the tenant's queue yet. */
chan pipe[SESSIONS + 1] = [2] of { byte, byte, byte, byte };   /* job, run, version or END, timestamp */
bool connected[SESSIONS + 1];
#define END 0

/* The client: its book, and what it has received of each request. */
byte book, book_stamp, live_received = 1;
byte last_run[REQUESTS + 1], ended_run[REQUESTS + 1], ends[REQUESTS + 1], replayed_in[REQUESTS + 1];
byte wanted[REQUESTS + 1];   /* the version when the request was accepted */
bool lapsed[REQUESTS + 1];   /* its slot ran out */

byte requests, queued;       /* how many requests were accepted; how many of them wait for the slot */
byte faults, cuts, releases, late, expiries;   /* what may still happen */
bool disturbed;              /* something of that has happened */
byte started;                /* sessions are alike: they begin in their order */

#define open(j) (job[j] == SCHEDULED || job[j] == RUNNING)
#define waits(j) (open(j) && token[j] == NO_SLOT)
/* Whether a request has the slot for its client: it has neither ended, nor had its time. */
#define in_flight(j) (token[j] != NO_SLOT && job[j] != FAILED && !ends[j] && !lapsed[j])
/* Whether it has ended for its client, too. */
#define over(j) (job[j] == FAILED || (job[j] == COMPLETED && ends[j]))
#define lease_held (holder == me && !lease_expired)

/* The client applies what is newer than what it has. */
inline receive(its_version, its_stamp) {
    if
    :: its_stamp > book_stamp ->
        assert(its_version >= book);           /* no message makes the book older */
        book = its_version; book_stamp = its_stamp
    :: else
    fi
}

inline acquire_slot(j) {
    /* one at a time: the last holder of the slot has received its snapshot_complete, has failed, or was too slow */
    assert(!in_flight(1) && !in_flight(2) && !in_flight(REQUESTS));
    slot_token++; taken = true; token[j] = slot_token
}

inline release_slot(j) {
#ifdef BUG_RELEASES_ANY_SLOT
    taken = false
#else
    taken = (token[j] == slot_token -> false : taken)
#endif
}

/* Requests: refused while the slot is taken or a request waits for it, or queued. A refused one comes again. */
proctype Client() {
end:
    do
    :: atomic { requests < REQUESTS && !taken && !waits(1) && !waits(2) && !waits(REQUESTS) ->
        requests++; acquire_slot(requests); job[requests] = SCHEDULED; wanted[requests] = version }
    :: atomic { requests < REQUESTS && queued < 2 ->
        requests++; queued++; job[requests] = SCHEDULED; wanted[requests] = version }
    od
}

/* The match goes on; its live messages arrive in order, at any time after their commit. */
proctype Play() {
end:
    do
    :: atomic { version <= COMMITS -> version++; stamp++; live_stamp[version] = stamp }
    :: atomic { live_received < version -> live_received++; receive(live_received, live_stamp[live_received]) }
    od
}

/* The slot's time runs out; that of a job that has ended has run out already. */
proctype Time() {
end:
    do
    :: atomic { taken && expiries > 0 ->
        expiries--; disturbed = true; taken = false;
        lapsed[1] = lapsed[1] || (token[1] == slot_token);
        lapsed[2] = lapsed[2] || (token[2] == slot_token);
        lapsed[REQUESTS] = lapsed[REQUESTS] || (token[REQUESTS] == slot_token) }
    od
}

/* The broker takes what was written into the tenant's queue. */
inline take_written() {
    pipe[me] ? its_job, its_run, its_version, its_stamp;
    assert(its_run >= last_run[its_job]);      /* nothing of an earlier run after a later one */
    assert(its_run > ended_run[its_job]);      /* snapshot_complete is the last of its run */
    last_run[its_job] = its_run;
    if
    :: its_version == END ->
        assert(replayed_in[its_job] == its_run);   /* the run is whole */
        ended_run[its_job] = its_run; ends[its_job]++;
        assert(ends[its_job] == 1 || disturbed);   /* it is repeated after a fault only */
        assert(book >= wanted[its_job])            /* nothing is missing then */
    :: else -> replayed_in[its_job] = its_run; receive(its_version, its_stamp)
    fi;
    its_job = 0; its_run = 0; its_version = 0; its_stamp = 0
}

/* The connection ends, and what the broker has not read yet goes with it. */
inline disconnect(n) {
    connected[n] = false;
    do
    :: nempty(pipe[n]) -> pipe[n] ? _, _, _, _
    :: empty(pipe[n]) -> break
    od
}

/* The statement CLAIM_JOB, for the job j of those that are not `excluded`. */
#ifdef BUG_LOST_JOBS_STAY
#define due(j) (lease_held && job[j] == SCHEDULED && has_turn(j))
#else
#define due(j) (lease_held && open(j) && has_turn(j))
#endif
#define has_turn(j) (token[j] != NO_SLOT || (!taken && !(j > 1 && waits(1)) && !(j > 2 && waits(2))))

inline claim_job(j) {
    if
    :: token[j] == NO_SLOT -> acquire_slot(j); queued--
    :: else
    fi;
    job[j] = RUNNING; attempts[j]++
}

/* Its answer may be lost; it may also be executed late, when this process runs the job already. */
#define claims(j) \
    :: atomic { state == SERVING && connected[me] && !releasing && step == NO_RUN && due(j) -> \
        claim_job(j); mine = j; mine_run = attempts[j]; on_connection = connection; step = CLAIMED } \
    :: atomic { late > 0 && due(j) -> late--; disturbed = true; claim_job(j) }

#define is_run(j, number) (job[j] == RUNNING && attempts[j] == number)
#define holds_slot(j) (taken && token[j] == slot_token)

inline end_job(j, number, how) {
    if
    :: is_run(j, number) -> job[j] = how; release_slot(j)
    :: else
    fi
}

/* What a session does, and how far its run is. */
#define NO_TENANT 0
#define FENCING 1
#define CONNECTING 2
#define SERVING 3
#define OVER 4
#define NO_RUN 0
#define CLAIMED 1
#define READ 2
#define CHECKED 3
#define WRITTEN 4
#define CONFIRMED 5
#define REPLAYED 6
#define END_CHECKED 7
#define END_WRITTEN 8
#define ENDED 9
#define BROKEN 10

#define online (connected[me] && on_connection == connection)
#define publishing (step == CHECKED || step == END_CHECKED)
#ifdef BUG_COMPLETED_UNCONFIRMED
#define end_confirmed true
#else
#define end_confirmed (online && empty(pipe[me]))
#endif
#ifdef BUG_RELEASED_UNDRAINED
#define drained true
#else
#define drained (empty(pipe[me]))
#endif

inline forget_run() {
    step = NO_RUN; mine = 0; mine_run = 0; read_version = 0; read_stamp = 0; on_connection = 0
}

proctype Session(byte me) {
    byte state, step, mine, mine_run, read_version, read_stamp, connection, on_connection;
    byte its_job, its_run, its_version, its_stamp, late_job, late_run;
    bool releasing;

end:
    do
    /* acquire the lease; the former holder is expelled, unless it has released the tenant */
    :: atomic { state == NO_TENANT && (holder == 0 || (lease_expired && holder != me)) && me <= started + 1 ->
        started = (me > started -> me : started);
        state = (holder == 0 -> CONNECTING : FENCING);
        holder = me; lease_expired = false; releasing = false }
    :: atomic { state == FENCING -> disconnect(3 - me); state = CONNECTING }
    :: atomic { state == CONNECTING -> disconnect(me); connected[me] = true; connection++; state = SERVING }

    claims(1)
    claims(2)
#if REQUESTS > 2
    claims(3)
#endif
    :: atomic { step == CLAIMED && mine_run > MAX_ATTEMPTS && !holds_slot(mine) ->
        end_job(mine, mine_run, FAILED); forget_run() }

    /* a run: read under the match's lock, with a timestamp; publish; record the progress; the end; complete */
#ifdef BUG_STAMPED_AFTER_READING
    :: atomic { step == CLAIMED && !read_version -> read_version = version }
    :: atomic { step == CLAIMED && read_version -> stamp++; read_stamp = stamp; step = READ }
#else
    :: atomic { step == CLAIMED -> stamp++; read_version = version; read_stamp = stamp; step = READ }
#endif
    :: atomic { step == READ || step == REPLAYED ->
        if
        :: lease_held && !releasing && online -> step++
        :: else -> step = BROKEN
        fi }
    :: atomic { step == CHECKED && online -> pipe[me] ! mine, mine_run, read_version, read_stamp; step = WRITTEN }
    :: atomic { step == END_CHECKED && online -> pipe[me] ! mine, mine_run, END, 0; step = END_WRITTEN }
    :: atomic { nempty(pipe[me]) -> take_written() }
    :: atomic { step == WRITTEN && online && empty(pipe[me]) -> step = CONFIRMED }
    :: atomic { step == END_WRITTEN && end_confirmed -> step = ENDED }
    :: atomic { (publishing || step == WRITTEN || step == END_WRITTEN) && !online -> step = BROKEN }
    :: atomic { step == CONFIRMED ->
        if
        :: is_run(mine, mine_run) -> step = REPLAYED
        :: else -> forget_run()                /* another process runs it */
        fi }
    :: atomic { step == ENDED -> end_job(mine, mine_run, COMPLETED); forget_run() }
    :: atomic { step == ENDED && late > 0 && !late_job ->
        late--; disturbed = true; late_job = mine; late_run = mine_run }
    :: atomic { late_job -> end_job(late_job, late_run, COMPLETED); late_job = 0; late_run = 0 }

    /* the run failed, because the broker was not available: again later, while its attempts or its slot last */
    :: atomic { step == BROKEN ->
        if
        :: mine_run >= MAX_ATTEMPTS && !holds_slot(mine) -> end_job(mine, mine_run, FAILED)
        :: else ->
            if
            :: is_run(mine, mine_run) -> job[mine] = SCHEDULED
            :: else
            fi
        fi;
        forget_run() }

    /* the connection ends */
    :: atomic { state == SERVING && connected[me] && cuts > 0 -> cuts--; disturbed = true; disconnect(me) }
    :: atomic { state == SERVING && !connected[me] -> state = CONNECTING }

    /* release the tenant in good order: nothing more is written, but what was written still arrives */
    :: atomic { state == SERVING && connected[me] && releases > 0 -> releases--; disturbed = true; releasing = true }
    :: atomic { state == SERVING && releasing && lease_held && drained && !publishing ->
        holder = 0; connected[me] = false; state = NO_TENANT }

    /* the lease runs out, after which a living session ends; a crash, after which what was written arrives */
    :: atomic { lease_held && faults > 0 && state != OVER -> faults--; disturbed = true; lease_expired = true }
    :: atomic { (holder != me || lease_expired) && state != NO_TENANT && state != OVER && !publishing ->
        state = OVER; forget_run() }
    :: atomic { faults > 0 && state != NO_TENANT && state != OVER ->
        faults--; disturbed = true; state = OVER; forget_run() }
    :: atomic { state == OVER && lease_held -> lease_expired = true }
    od
}

/* When nothing more can happen, every request has ended, the slot is free, and the book is the match's. */
proctype End() {
    timeout -> assert(over(1) && over(2) && over(REQUESTS) && !taken && book == version)
}

init {
    atomic {
        select(faults : 0 .. FAULTS); select(cuts : 0 .. CUTS); select(releases : 0 .. RELEASES);
        select(late : 0 .. LATE); select(expiries : 0 .. EXPIRIES);
        live_stamp[1] = 1;
        job[1] = NO_JOB; job[2] = NO_JOB; job[REQUESTS] = NO_JOB;
        run Client(); run Play(); run Time(); run Session(1); run Session(2); run End()
    }
}
