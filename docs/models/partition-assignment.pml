/* Assignment of partitions to ingest workers; partition-assignment.md says what is claimed, what was abstracted,
 * and which code each step is.
 *
 * PARTITIONS queues with BATCHES log batches each, and two workers that consume from all of them. Each
 * alternative of a worker's loop is one step, and any time may pass between two steps: a worker that is stopped
 * is one that takes none, until the broker closes its connection and it wakes.
 */

#define WORKERS 2
#define PARTITIONS 2
#ifndef BATCHES
#define BATCHES 2
#endif
#ifndef CRASHES
#define CRASHES 1      /* fewer than WORKERS */
#endif
#ifndef CUTS
#define CUTS 1         /* connections that the broker closes: a cut, or heartbeats of a stopped worker are missing */
#endif
#ifndef REBALANCES
#define REBALANCES 2   /* each worker's; it may see the other one as living or as dead */
#endif
#define bit(n) (1 << (n))

/* The broker: by queue its consumers, of which the first is active; batches that are acknowledged, and those that
 * are delivered and not acknowledged. */
chan consumers[PARTITIONS] = [WORKERS] of { byte };
byte acknowledged[PARTITIONS], out[PARTITIONS];
bool connected[WORKERS];

/* The database, by partition: the batch that follows what is applied (next_offset), and those that wait for
 * bytes before them. */
byte next[PARTITIONS], pending[PARTITIONS], last[PARTITIONS];

/* How many workers hold a batch that they received on a connection that still exists and have not applied. */
byte applying[PARTITIONS];

byte crashes, cuts, lost_answers;   /* what may still happen */
#define HANDLED 1
#define DECIDED 2

#define first_waiting(q) \
    (!((acknowledged[q] | out[q]) & 2) -> 1 : (!((acknowledged[q] | out[q]) & 4) -> 2 : \
    (!((acknowledged[q] | out[q]) & 8) -> 3 : (!((acknowledged[q] | out[q]) & 16) -> 4 : 5))))
#ifdef BUG_NOT_SINGLE_ACTIVE
#define active(q) (consumers[q] ?? [eval(me)])
#else
#define active(q) (consumers[q] ? [eval(me)])
#endif

/* A transaction under the match's lock. */
inline apply(q, batch) {
    if
#ifdef BUG_ONLY_LAST_ID
    :: batch == last[q]
    :: batch != last[q] ->
        assert(batch == next[q]);              /* each batch is applied once, in order */
        next[q] = batch + 1
#else
    :: batch < next[q]                         /* a repeat */
    :: batch > next[q] -> pending[q] = pending[q] | bit(batch)
    :: batch == next[q] ->
        next[q]++;
        do
        :: pending[q] & bit(next[q]) -> pending[q] = pending[q] & ~bit(next[q]); next[q]++
        :: else -> break
        od
#endif
    fi;
    last[q] = batch
}

#ifdef BUG_YIELDS_FOR_GOOD
#define SUBSCRIBE_AGAIN(q) skip
#else
#define SUBSCRIBE_AGAIN(q) consumers[q] ! me
#endif

/* The broker closes the worker's connection: what is not acknowledged returns to its place in the queue, but the
 * worker goes on applying it. */
inline close(q) {
    if
    :: consumers[q] ?? [eval(me)] -> consumers[q] ?? eval(me)
    :: else
    fi;
    if
    :: got[q] ->
        out[q] = out[q] & ~bit(got[q]);
        applying[q] = (applied[q] -> applying[q] : applying[q] - 1);
        stray[q] = (applied[q] -> stray[q] : got[q]);
        got[q] = 0; applied[q] = 0
    :: else
    fi
}

proctype Worker(byte me) {
    byte got[PARTITIONS], stray[PARTITIONS];   /* received here, and received on a connection that is gone */
    byte applied[PARTITIONS], to_yield, rebalances = REBALANCES;
    bool living = true;

end:
    do
    /* connect, and subscribe to every queue */
    :: atomic { living && !connected[me] ->
        connected[me] = true; consumers[0] ! me; consumers[1] ! me }

    /* one queue: deliver, apply, apply what a closed connection brought, yield, acknowledge */
    :: atomic { connected[me] && active(0) && !got[0] && first_waiting(0) <= BATCHES ->
        got[0] = first_waiting(0); out[0] = out[0] | bit(got[0]);
        applying[0]++;
        assert(applying[0] <= 1) }             /* the broker lets one worker apply a partition */
    :: atomic { living && got[0] && !applied[0] ->
        apply(0, got[0]);
        if
        :: applied[0] = HANDLED; applying[0]--
        :: lost_answers > 0 -> lost_answers-- /* committed, but the answer is lost: it is tried again */
        fi }
    :: atomic { living && stray[0] -> apply(0, stray[0]); stray[0] = 0 }
    :: atomic { applied[0] == HANDLED ->
        if
        :: to_yield & bit(0) -> to_yield = to_yield & ~bit(0); consumers[0] ?? eval(me); SUBSCRIBE_AGAIN(0)
        :: else
        fi;
        applied[0] = DECIDED }
    :: atomic { applied[0] == DECIDED ->
        acknowledged[0] = acknowledged[0] | bit(got[0]); out[0] = out[0] & ~bit(got[0]);
        got[0] = 0; applied[0] = 0 }
    :: atomic { connected[me] && active(1) && !got[1] && first_waiting(1) <= BATCHES ->
        got[1] = first_waiting(1); out[1] = out[1] | bit(got[1]);
        applying[1]++;
        assert(applying[1] <= 1) }             /* the broker lets one worker apply a partition */
    :: atomic { living && got[1] && !applied[1] ->
        apply(1, got[1]);
        if
        :: applied[1] = HANDLED; applying[1]--
        :: lost_answers > 0 -> lost_answers-- /* committed, but the answer is lost: it is tried again */
        fi }
    :: atomic { living && stray[1] -> apply(1, stray[1]); stray[1] = 0 }
    :: atomic { applied[1] == HANDLED ->
        if
        :: to_yield & bit(1) -> to_yield = to_yield & ~bit(1); consumers[1] ?? eval(me); SUBSCRIBE_AGAIN(1)
        :: else
        fi;
        applied[1] = DECIDED }
    :: atomic { applied[1] == DECIDED ->
        acknowledged[1] = acknowledged[1] | bit(got[1]); out[1] = out[1] & ~bit(got[1]);
        got[1] = 0; applied[1] = 0 }

    /* rebalance: with the other worker, or without it if it seems dead */
    :: atomic { living && rebalances > 0 -> rebalances--; to_yield = bit(1 - me) }
    :: atomic { living && rebalances > 0 && to_yield -> rebalances--; to_yield = 0 }

    :: atomic { connected[me] && cuts > 0 -> cuts--; connected[me] = false; close(0); close(1) }
    :: atomic { living && crashes > 0 ->
        crashes--; living = false; connected[me] = false; to_yield = 0;
        close(0); close(1); stray[0] = 0; stray[1] = 0 }
    od
}

/* When nothing more can happen, every batch is applied and acknowledged: each partition had a worker. */
proctype End() {
    timeout -> assert(next[0] == BATCHES + 1 && next[1] == BATCHES + 1 &&
                      first_waiting(0) > BATCHES && first_waiting(1) > BATCHES && !out[0] && !out[1])
}

init {
    atomic {
        next[0] = 1; next[1] = 1;
        select(crashes : 0 .. CRASHES); select(cuts : 0 .. CUTS); select(lost_answers : 0 .. 1);
        run Worker(0); run Worker(1); run End()
    }
}
