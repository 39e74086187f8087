// What the page says, in both languages. Names of markets and reasons of suspensions come from the service, in
// the language of the page.

const WORDS = {
  en: {
    skip: "To the match", docs: "API", theme: "Theme", forget: "Forget the key", key: "API key",
    welcome: "Paste a key to see what it sees", open: "Open the board",
    where: "The demo prints a link that carries one; keys of its tenants are in var/demo.json.",
    matches: "Matches", live: "Live", upcoming: "To come", finished: "Finished", match: "Match",
    latency: "Log line → your queue", book: "The bookmaker’s book", latest: "Latest envelopes",
    settled: "Last settlements, and what each rests on",
    footer: "A client like yours: REST, WebSocket, and nothing else.",
    refused: "The key was refused: {0}", away: "The service does not answer",
    on: "live over WebSocket", polling: "REST only, the stream is away", off: "nobody answers",
    map: "map {0}", round: "round {0}", freeze: "freeze time", over: "round over", bestOf: "best of {0}",
    none: "nothing now", suspended: "suspended", open_: "open", wasOpen: "Prices suspended: {0}",
    median: "median {0} ms", spread: "last {0} ms, slowest {1} ms, {2} envelopes",
    bars: "How many envelopes took up to so many milliseconds: {0}", slower: "more",
    equal: "book equals REST: {0} differences ({1} markets of {2} matches)", differs: "book differs from REST: {0} differences",
    unchecked: "not checked yet", standing: "{0} prices open, {1} suspended; {2}",
    state_following: "following the queue", state_recovering: "recovering", state_silent: "receives nothing", state_away: "not connected",
    alarm_silent: "The bookmaker receives nothing: every price of its book is suspended",
    alarm_away: "The bookmaker has no connection: every price of its book is suspended",
    alarm_recovering: "alive subscribed=\"0\" or a lost connection: recovering, prices suspended until it is complete",
    recovery: "recovery: {0}, step {1} of {2}, {3} envelopes", restsOn: "rests on",
    won: "won", lost: "lost", void: "void", pending: "taken back", bets_void: "void bets", bets_stand: "bets stand again",
    kill: "{0} killed {1} with {2}{3}", headshot: ", headshot", bomb_planted: "{0} planted the bomb", bomb_defused: "{0} defused the bomb",
    bomb_exploded: "the bomb exploded", roundWon: "round {0}: won by {1} ({2}), {3}:{4}", unlisted: "fact {0}: the end of a map or match, or one that no longer counts",
    scope_round: "Round {0}", scope_map: "Map {0}", scope_match: "Match", market: "market {0}", up: "up", down: "down",
    at: "at {0}", prices: "{0} open prices", ago: "{0} s", frames: "no report of this tenant’s queue: frames of the stream instead",
    markets: "{0} markets", over: "over", under: "under", yes: "yes", no: "no", odd: "odd", even: "even", level: "level", each: "one each", player: "player", several: "several",
    by_defuse: "defuse", by_bomb: "explosion", by_time: "time", by_elimination: "elimination",
    group_match_winner: "Winner", group_match_map_handicap: "Maps, handicap", group_total_maps: "Maps", group_correct_map_score: "Score in maps",
    group_map_winner: "Winner", group_map_round_handicap: "Rounds, handicap", group_map_total_rounds: "Rounds", group_map_overtime: "Overtime",
    group_race_to_rounds: "First to rounds", group_pistol_winner: "Pistol round, half {0}", group_half: "First half", group_both_pistols: "Both pistol rounds",
    group_team_rounds: "{0}: rounds", group_map_rounds_parity: "Number of rounds", group_player_kills: "{0}: kills", group_player_duel: "More kills: {0}", group_map_most_kills: "Most kills",
    group_round_winner: "Winner", group_round_opening_kill: "First kill", group_round_opening_headshot: "First kill a headshot", group_round_awp_kill: "A kill with the AWP",
    group_round_bomb_planted: "Bomb planted", group_round_ending: "Ends by", group_round_kills: "Kills",
  },
  ru: {
    skip: "К матчу", docs: "API", theme: "Тема", forget: "Забыть ключ", key: "Ключ API",
    welcome: "Вставьте ключ, чтобы увидеть то, что видит он", open: "Открыть табло",
    where: "Демо печатает ссылку с ключом; ключи клиентов лежат в var/demo.json.",
    matches: "Матчи", live: "Идут", upcoming: "Предстоят", finished: "Завершены", match: "Матч",
    latency: "Строка лога → ваша очередь", book: "Книга букмекера", latest: "Последние конверты",
    settled: "Последние расчёты и на чём они основаны",
    footer: "Такой же клиент, как ваш: REST, WebSocket и ничего больше.",
    refused: "Ключ отклонён: {0}", away: "Сервис не отвечает",
    on: "в эфире по WebSocket", polling: "только REST, поток недоступен", off: "никто не отвечает",
    map: "карта {0}", round: "раунд {0}", freeze: "закупка", over: "раунд окончен", bestOf: "bo{0}",
    none: "сейчас ничего", suspended: "приостановлено", open_: "открыто", wasOpen: "Цены приостановлены: {0}",
    median: "медиана {0} мс", spread: "последняя {0} мс, самая долгая {1} мс, конвертов: {2}",
    bars: "Сколько конвертов уложилось в столько миллисекунд: {0}", slower: "дольше",
    equal: "книга равна REST: отличий {0} (рынков {1}, матчей {2})", differs: "книга отличается от REST, отличий: {0}",
    unchecked: "ещё не сверялась", standing: "открыто цен: {0}, приостановлено: {1}; {2}",
    state_following: "слушает очередь", state_recovering: "восстанавливается", state_silent: "ничего не слышит", state_away: "нет соединения",
    alarm_silent: "Букмекер ничего не слышит: все цены его книги приостановлены",
    alarm_away: "У букмекера нет соединения: все цены его книги приостановлены",
    alarm_recovering: "alive subscribed=\"0\" или обрыв связи: идёт восстановление, цены пока приостановлены",
    recovery: "восстановление: {0}, шаг {1} из {2}, конвертов {3}", restsOn: "основан на",
    won: "выигрыш", lost: "проигрыш", void: "возврат", pending: "расчёт отменён", bets_void: "возврат ставок", bets_stand: "ставки в силе",
    kill: "{0} убил {1}, {2}{3}", headshot: ", в голову", bomb_planted: "{0} установил бомбу", bomb_defused: "{0} обезвредил бомбу",
    bomb_exploded: "бомба взорвалась", roundWon: "раунд {0}: победа {1} ({2}), {3}:{4}", unlisted: "факт {0}: конец карты или матча либо то, что больше не учитывается",
    scope_round: "Раунд {0}", scope_map: "Карта {0}", scope_match: "Матч", market: "рынок {0}", up: "выше", down: "ниже",
    at: "в {0}", prices: "открытых цен: {0}", ago: "{0} с", frames: "об очереди этого клиента отчёта нет: вместо него кадры потока",
    kills: "убийства", bomb: "бомба", defuse: "обезвреживание", time: "время",
    scheduled: "назначено", running: "идёт", completed: "завершено", failed: "не удалось",
    markets: "рынков: {0}", over: "больше", under: "меньше", yes: "да", no: "нет", odd: "нечётное", even: "чётное", level: "ничья", each: "по одному", player: "игрок", several: "несколько",
    by_defuse: "обезвреживание", by_bomb: "взрыв", by_time: "время", by_elimination: "убийства",
    group_match_winner: "Победитель", group_match_map_handicap: "Карты, фора", group_total_maps: "Карты", group_correct_map_score: "Счёт по картам",
    group_map_winner: "Победитель", group_map_round_handicap: "Раунды, фора", group_map_total_rounds: "Раунды", group_map_overtime: "Овертайм",
    group_race_to_rounds: "Первым до раундов", group_pistol_winner: "Пистолетный раунд, половина {0}", group_half: "Первая половина", group_both_pistols: "Оба пистолетных раунда",
    group_team_rounds: "{0}: раунды", group_map_rounds_parity: "Число раундов", group_player_kills: "{0}: убийства", group_player_duel: "Больше убийств: {0}", group_map_most_kills: "Больше всех убийств",
    group_round_winner: "Победитель", group_round_opening_kill: "Первое убийство", group_round_opening_headshot: "Первое убийство в голову", group_round_awp_kill: "Убийство из AWP",
    group_round_bomb_planted: "Бомба установлена", group_round_ending: "Чем закончится", group_round_kills: "Убийства",
  },
};

let language = (localStorage.getItem("language") || navigator.language || "en").startsWith("ru") ? "ru" : "en";

export const locale = () => language;

export function setLocale(wanted) {
  language = wanted;
  localStorage.setItem("language", wanted);
}

/** The words for `name`, its {0}, {1}, … filled; what has no words is shown as it is. */
export function say(name, ...values) {
  const text = WORDS[language][name] ?? WORDS.en[name] ?? name;
  return text.replace(/\{(\d)\}/g, (_, place) => values[place] ?? "");
}

/** Puts the words of the chosen language into everything that names its words. */
export function translate(root) {
  document.documentElement.lang = language;
  for (const element of root.querySelectorAll("[data-word]")) element.textContent = say(element.dataset.word);
}
