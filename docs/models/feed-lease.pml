/* Lease, fence and cursor of the feed; feed-lease.md says what is claimed, what was abstracted, and which code
 * each step is.
 *
 * One tenant, to which ENVELOPES envelopes are to be published. Each Session is a lifetime of a feed process;
 * what it has written may arrive after it has ended. Each alternative of its loop is one step, and any time may
 * pass between two steps: a process that is stopped is one that takes none.
 */

#ifndef ENVELOPES
#define ENVELOPES 2  /* at most 4 */
#endif
#ifndef WINDOW
#define WINDOW 1     /* envelopes beyond the saved cursor, FEED_WINDOW */
#endif
#ifndef FAULTS
#define FAULTS 2     /* crashes, leases that run out under a living session, acquisitions whose answer is lost */
#endif
#ifndef TICKS
#define TICKS 2      /* of the clock while a session that lives holds the tenant */
#endif
#ifndef CUTS
#define CUTS 1       /* connections that end */
#endif
#ifndef RELEASES
#define RELEASES 1   /* tenants given to another process in good order */
#endif
#ifndef LATE
#define LATE 1       /* checkpoints that the database executes late */
#endif
#define SESSIONS 3   /* more than FAULTS, so that one is left that publishes everything */
#define LEASE 2      /* ticks, FEED_LEASE_SECONDS */
#define bit(n) (1 << (n))

/* The database: the tenant's row of tenant_cursor. `former`: holders that may not be expelled yet, as bits. */
byte holder, epoch, seq, left, former;

/* The broker, by session. `connected`: it has a connection, on which everything up to `written` was written,
 * and up to `taken` is in the tenant's queue. */
bool user[SESSIONS + 1], connected[SESSIONS + 1];
byte written[SESSIONS + 1], taken[SESSIONS + 1];
byte delivered;      /* the highest envelope in the queue */
byte writer;         /* the epoch in which the queue's last envelope was published */

/* By session: the lease's ticks left by its own clock, and those that a renewal will leave whose answer is under
 * way. Both are counted from before the statement was sent. */
byte deadline[SESSIONS + 1], renewed[SESSIONS + 1];
byte started;        /* sessions are alike: they begin in their order */

/* What may still happen. */
byte faults, ticks, cuts, releases, late_checkpoints;

/* What a session does, and which answer of the database is under way to it. */
#define NO_TENANT 0
#define FENCING 1
#define CONNECTING 2
#define SERVING 3
#define CLOSING 4
#define OVER 5
#define NONE 0
#define DONE 1
#define REFUSED 2

#ifdef BUG_CURSOR_AT_SENT
#define cursor (sent)
#else
#define cursor (unconfirmed & 2 -> 0 : (unconfirmed & 4 -> 1 : (unconfirmed & 8 -> 2 : (unconfirmed & 16 -> 3 : sent))))
#endif
#ifdef BUG_LATE_CHECKPOINT
#define in_order(value) true
#else
#define in_order(value) (seq <= value)
#endif
#define free_lease (holder == 0 || left == 0)
#define served (state >= FENCING && state <= SERVING)
#define idle (checkpoint == NONE && renewal == NONE)

/* The statement CHECKPOINT. */
inline store_checkpoint(value, of_epoch, result) {
    if
    :: holder == me && epoch == of_epoch && in_order(value) ->
        assert(value >= seq);                 /* the cursor does not go back */
        seq = value; result = DONE;
        assert(seq <= delivered);             /* it passes nothing that is not in the queue */
        assert(delivered <= seq + WINDOW)     /* a crash now repeats the window at most */
    :: else -> result = REFUSED
    fi
}

inline disconnect(n) {
    connected[n] = false; written[n] = 0; taken[n] = 0
}

inline confirm(n) {
    atomic { state == SERVING && (unconfirmed & bit(n)) && connected[me] && taken[me] >= n ->
        unconfirmed = unconfirmed & ~bit(n) }
}

inline expel(n) {
#ifndef BUG_NO_FENCE
    disconnect(n);
#endif
    user[n] = false; expelling = expelling & ~bit(n)
}

inline forget() {
    deadline[me] = (state == OVER -> 0 : deadline[me]); renewed[me] = 0;
    may_write = false; releasing = false; lost = false; checkpoint = NONE; renewal = NONE;
    sent = 0; saved = 0; unconfirmed = 0; stored = 0; expelling = 0
}

proctype Session(byte me) {
    byte state, checkpoint, renewal, mine, sent, saved, unconfirmed, expelling, stored, late, late_epoch;
    bool may_write, releasing, lost;

end:
    do
    /* acquire; the lease may be shorter by our clock, and the answer may be lost */
    :: atomic { state == NO_TENANT && free_lease && seq < ENVELOPES && me <= started + 1 ->
        started = (me > started -> me : started);
#ifdef BUG_ONLY_LAST_HOLDER_IS_FENCED
        former = 0;
#endif
        former = (holder && holder != me -> former | bit(holder) : former);
        holder = me; epoch++; left = LEASE;
        if
        :: deadline[me] = LEASE; state = FENCING
        :: deadline[me] = LEASE - 1; state = FENCING
        :: faults > 0 -> faults--
        fi;
        if
        :: state == FENCING -> mine = epoch; sent = seq; saved = seq; expelling = former & ~bit(me)
        :: else
        fi }
    :: atomic { state == NO_TENANT && holder == me && left > 0 -> holder = 0; left = 0 }

    /* fence */
    :: atomic { state == FENCING && (expelling & bit(1)) -> expel(1) }
    :: atomic { state == FENCING && (expelling & bit(2)) -> expel(2) }
    :: atomic { state == FENCING && (expelling & bit(3)) -> expel(3) }
    :: atomic { state == FENCING && !expelling ->
        former = (holder == me && epoch == mine -> 0 : former); state = CONNECTING }

    /* connect */
    :: atomic { state == CONNECTING && user[me] ->
        connected[me] = true; written[me] = sent; taken[me] = sent; state = SERVING }
    :: atomic { state == CONNECTING && !user[me] -> lost = true; state = CLOSING }

    /* publish: check the lease, then write; a stop may come between the two */
    :: atomic { state == SERVING && !may_write && !releasing && deadline[me] > 0 && connected[me] &&
                sent < ENVELOPES && sent - saved < WINDOW -> may_write = true }
    :: atomic { state == SERVING && may_write && connected[me] ->
        may_write = false; sent++; written[me] = sent; unconfirmed = unconfirmed | bit(sent) }

    /* the broker takes what was written, from a session that has ended, too; it confirms in any order */
    :: atomic { connected[me] && taken[me] < written[me] ->
        taken[me]++;
        assert(mine >= writer);               /* nothing of a former holder after its successor's */
        writer = mine;
        assert(taken[me] <= delivered + 1);   /* nothing is left out */
        delivered = (taken[me] > delivered -> taken[me] : delivered);
        assert(delivered <= seq + WINDOW);
        if
        :: state == OVER && taken[me] == written[me] -> disconnect(me)
        :: else
        fi }
    :: confirm(1)
    :: confirm(2)
    :: confirm(3)
    :: confirm(4)

    /* the connection is gone: publish again what was not confirmed */
    :: atomic { state == SERVING && cuts > 0 && connected[me] && unconfirmed -> cuts--; disconnect(me) }
    :: atomic { state == SERVING && !connected[me] ->
        sent = cursor; unconfirmed = 0; may_write = false; state = CONNECTING }

    /* save the cursor; a statement may be executed late, when nobody waits for its answer any more */
    :: atomic { state == SERVING && idle && cursor > saved ->
        stored = cursor; store_checkpoint(stored, mine, checkpoint) }
    :: atomic { state == SERVING && idle && cursor > saved && late_checkpoints > 0 ->
        late_checkpoints--; late = cursor; late_epoch = mine }
    :: atomic { late > 0 -> store_checkpoint(late, late_epoch, late_epoch); late = 0; late_epoch = 0 }
    :: atomic { checkpoint == DONE -> saved = stored; checkpoint = NONE; stored = 0 }
    :: atomic { checkpoint == REFUSED -> releasing = true; checkpoint = NONE; stored = 0 }

    /* renew the lease, once a tick */
    :: atomic { served && idle && deadline[me] > 0 && deadline[me] < LEASE ->
        if
        :: renewed[me] = LEASE
        :: renewed[me] = LEASE - 1
        fi;
        if
        :: holder == me && left > 0 -> left = LEASE; renewal = DONE
        :: else -> renewal = REFUSED
        fi }
    :: atomic { renewal == DONE -> deadline[me] = renewed[me]; renewed[me] = 0; renewal = NONE }
    :: atomic { renewal == REFUSED ->
        deadline[me] = renewed[me]; renewed[me] = 0; renewal = NONE; lost = (deadline[me] == 0); state = CLOSING }

    /* release the tenant in good order */
    :: atomic { state == SERVING && !releasing && !may_write && releases > 0 -> releases--; releasing = true }
#ifdef BUG_RELEASED_UNDRAINED
    :: atomic { state == SERVING && releasing && idle && holder == me -> holder = 0; left = 0; state = CLOSING }
#else
    :: atomic { state == SERVING && releasing && idle && holder == me && !unconfirmed && cursor == saved ->
        holder = 0; left = 0; state = CLOSING }
#endif

    /* end: the lease is lost, or the tenant is dropped; or a crash, after which what was written arrives */
    :: atomic { served && renewal == NONE && deadline[me] == 0 -> lost = true; state = CLOSING }
    :: atomic { state == CLOSING && idle ->
        state = (lost -> OVER : NO_TENANT); disconnect(me); forget() }
    :: atomic { faults > 0 && state != NO_TENANT && state != OVER ->
        faults--; state = OVER; forget();
        if
        :: taken[me] == written[me] -> disconnect(me)
        :: else
        fi }
    od
}

#define holding (deadline[holder] > 0)

proctype Clock() {
end:
    do
    :: atomic { left > 0 && (!holding || ticks > 0) && (deadline[holder] != 1 || faults > 0) ->
        if
        :: holding -> ticks--; faults = (deadline[holder] == 1 -> faults - 1 : faults)
        :: else
        fi;
        left--;
        deadline[1] = (deadline[1] -> deadline[1] - 1 : 0); renewed[1] = (renewed[1] -> renewed[1] - 1 : 0);
        deadline[2] = (deadline[2] -> deadline[2] - 1 : 0); renewed[2] = (renewed[2] -> renewed[2] - 1 : 0);
        deadline[3] = (deadline[3] -> deadline[3] - 1 : 0); renewed[3] = (renewed[3] -> renewed[3] - 1 : 0) }
    od
}

/* When nothing more can happen, everything is published, and the cursor says so. */
proctype End() {
    timeout -> assert(seq == ENVELOPES)
}

init {
    atomic {
        select(faults : 0 .. FAULTS); select(ticks : 0 .. TICKS); select(cuts : 0 .. CUTS);
        select(releases : 0 .. RELEASES); select(late_checkpoints : 0 .. LATE);
        user[1] = true; user[2] = true; user[3] = true;
        run Session(1); run Session(2); run Session(3); run Clock(); run End()
    }
}
