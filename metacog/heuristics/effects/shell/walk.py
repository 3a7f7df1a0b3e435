"""The statements of a shell text, in the order in which they run."""

import re
from bisect import bisect_left
from collections.abc import Callable, Sequence
from functools import cache, partial
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from ..programs import Word
from . import commands, own, printed, variables
from .out import Made, Out, Span, TooMuch
from .state import NOTHING_GIVEN, Given, State, either, forget
from .texts import checks
from .words import SHORT, VARIABLE, words

if TYPE_CHECKING:
    from tree_sitter import Language, Node

NOTHING = frozenset({":", "true"})  # commands that print nothing
MOST_BYTES = 1 << 17
MOST_DEPTH = 24
MOST_TURNS = 60  # of the parser, some 100 steps each, whatever the machine: about 200 commands
AT_ONCE = 512  # bytes over which it takes fewer turns, whatever they are
MOST_ROUNDS = 8  # of a loop over given words that are gone through one by one
TURNED = re.compile(  # the grammar takes what stands behind `<<X` for words where a pipe follows
    r"(<<-?[ ]?(?:'\w+'|\"\w+\"|\w+))([ \t]+)"
    r"((?:\d?>&\d|\d?>[ ]?/dev/null|&>[ ]?/dev/null)(?:[ \t]+\d?>&\d)*)(?=[ \t]*\|)"
)
NAMES_ONLY = re.compile(  # of the environment: its variables' names, or those that hold no secrets
    r"(?:env|printenv)\s*\|\s*(?:sort\s*\|\s*)?(?:cut -d ?['\"]?=['\"]? -f ?1|sed ['\"]s/=\.\*//['\"]"
    r"|awk -F ?['\"]?=['\"]? '\{ ?print \$1 ?\}'|(?:grep|rg) (?:-[iEcn]+ )?(['\"]?)\^?\(?(?:(?:\\?\|)?\^?"
    r"(?:NODE|PYTHON|RUBY|JAVA|PATH|PYTHON(?:PATH|HOME)?|NODE_ENV|JAVA_HOME|GO(?:PATH|ROOT|FLAGS)|RUSTFLAGS"
    r"|CARGO_HOME|HOME|LANG|LC_\w+|VIRTUAL_ENV|CONDA_PREFIX|PORT"
    r"|DEBUG|CI|DJANGO_SETTINGS_MODULE|RAILS_ENV|PWD|SHELL|USER|TZ)=?)+\)?=?\1)\s*(?:\||$)",
    re.IGNORECASE,
)
PICKED = re.compile(  # variables by their whole names
    r"(?:env|printenv)\s*\|\s*(?:grep|rg) (?:-[iEcn]+ )?(['\"])"
    r"\^\(?([A-Z][A-Z\d_]*(?:\\?\|\^?[A-Z][A-Z\d_]*)*)\)?=\1\s*(?:\||$)"
)
HIDES = re.compile(
    r"KEY|SECRET|TOKEN|PASS|PWD$|CRED|AUTH|URL|URI|DSN|CONN|COOKIE|SESSION|PRIVATE|CERT|SALT|SEED|PIN|HASH"
    r"|(?:^|_|\|)PAT(?:_|$|\|)|JWT|BEARER|OTP|MNEMONIC|WEBHOOK|HOOK|STRIPE|OPENAI|ANTHROPIC|SMTP|KUBE|SIGN|LICEN[CS]E"
)
BACKQUOTES = re.compile(r"\\.|`([^`]*)`?", re.DOTALL)
ASSIGNED = re.compile(
    r"(?<![\w$])(\w+)(?:\[[^\]]*\])?\+?="
    r"|(?<![\w$])(?:for|select|read|getopts|mapfile|readarray|unset)\b([^\n;]*)|\bprintf +-v *(\w+)"
)


@cache
def _language() -> "Language":
    import tree_sitter_bash
    from tree_sitter import Language

    return Language(tree_sitter_bash.language())


def _parsed(raw: bytes) -> "Node":
    """The syntax tree of `raw`; hostile text, over which the grammar takes ever longer, is too much."""
    from tree_sitter import Parser

    parser, turns = Parser(_language()), 0
    if len(raw) <= AT_ONCE:
        return parser.parse(raw).root_node

    def is_too_much(_place: int, _has_error: bool) -> bool:
        nonlocal turns
        turns += 1
        return turns > MOST_TURNS

    try:
        tree = parser.parse(lambda at, _point: raw[at:], progress_callback=is_too_much)
    except ValueError as error:
        raise TooMuch from error
    return tree.root_node


class Opened(NamedTuple):
    """A file that output goes to: whether it is added to it, and whether the text itself has made it."""

    name: str
    adds: bool
    is_own: bool


class Text:
    """A piece of shell text: the call's own, or code inside it, whose places are those of the word that holds it."""

    def __init__(self, text: str, out: Out, around: Span, at: int | None = None, depth: int = 0) -> None:
        self.text, self.out, self.around, self.at, self.depth = text, out, around, at, depth
        self.raw = checks.for_grammar(text)
        self.has_lines = "\n" in text
        self.calls: set[str] = set()
        self.opened: list[Opened] = []
        self.traps: list[tuple[Word, State, str | None]] = []
        self.wide: list[int] | None = None
        self.shift: list[int] = []
        if len(self.raw) != len(text):
            self._measure()

    def _measure(self) -> None:
        """Note where bytes and code points part."""
        self.wide = []
        for before, found in enumerate(checks.NON_ASCII.finditer(self.text)):
            self.wide.append(found.start() + before + 1)
            self.shift.append(before + 1)

    def point(self, byte: int) -> int:
        """The code point that starts at `byte` of this text."""
        if self.wide is None:
            return byte
        place = bisect_left(self.wide, byte + 1)
        return byte - (self.shift[place - 1] if place else 0)

    def between(self, start: int, end: int) -> str:
        if self.wide is None:
            return self.text[start:end]
        return self.text[self.point(start) : self.point(end)]

    def source(self, node: "Node") -> str:
        start, end = node.start_byte, node.end_byte
        return self.text[start:end] if self.wide is None else self.between(start, end)

    def piece(self, node: "Node") -> tuple[str, int | None, int | None]:
        """The source of a node and its span, at one go: a text has many words."""
        start, end, at = node.start_byte, node.end_byte, self.at
        if self.wide is not None:
            start, end = self.point(start), self.point(end)
        source = self.text[start:end]
        return (source, *self.around) if at is None else (source, at + start, at + end)

    def span(self, node: "Node") -> Span:
        if self.at is None:
            return self.around
        if self.wide is None:
            return self.at + node.start_byte, self.at + node.end_byte
        return self.at + self.point(node.start_byte), self.at + self.point(node.end_byte)

    def read(self, state: State, given: Given | None = None) -> None:
        """Read the whole text."""
        if len(self.raw) > MOST_BYTES or self.depth > MOST_DEPTH:
            raise TooMuch
        root = _parsed(self.raw)
        if root.has_error and (turned := TURNED.sub(r"\3\2\1", self.text)) != self.text:
            self.text, self.raw = turned, checks.for_grammar(turned)
            root = _parsed(self.raw)
        if "time" in self.text and (timed := checks.untimed(self.text, root)) != self.text:
            self.text, self.raw = timed, checks.for_grammar(timed)
            root = _parsed(self.raw)
        if root.has_error:
            self.doubt("grammar", self.around)
        named = [child for child in root.children if child.type != "comment"]
        if [child.type for child in named if child.type not in {"\n", ";"}] != ["command"]:
            self.out.compound = True
        self.statements(named, state, given)
        for command, last, before in self.traps:
            own.trapped(self, command, last, before)
        for detail in checks.doubts(self.text, root):
            self.doubt(detail, self.around)

    def doubt(self, detail: str, span: Span) -> None:
        self.out.compound = True
        self.out.add("unknown", span=span, detail=detail)

    # Statements

    def statements(self, nodes: Sequence["Node"], state: State, given: Given | None = None) -> None:
        for at, node in enumerate(nodes):
            if node.type == "&":
                self.out.compound = True
            elif node.is_named:
                aside = at + 1 < len(nodes) and nodes[at + 1].type == "&"
                before, made = state.cwd, state.made
                self.statement(node, state.copy() if aside else state, given)
                state.cwd = either(before, state.cwd, self.out.room)
                state.made = state.made if state.strict else made

    def statement(self, node: "Node", state: State, given: Given | None = None, extra: Sequence["Node"] = ()) -> Given:
        """Read one statement; what it gives to the next command of a pipeline."""
        self.out.step()
        self.depth += 1
        if self.depth > MOST_DEPTH:
            raise TooMuch
        kind = node.type
        try:
            if self.has_lines and kind in LINES and checks.is_torn(self.source(node), node):
                self.doubt("a line that ends elsewhere", self.span(node))
            handler = HANDLERS.get(kind)
            if handler is not None:
                return handler(self, node, state, given, extra) or NOTHING_GIVEN
            if kind not in {"comment", "heredoc_body", "heredoc_end"}:
                self.substitutions(node, state)
            return NOTHING_GIVEN
        finally:
            self.depth -= 1

    def group(self, node: "Node", state: State, given: Given | None, extra: Sequence["Node"]) -> None:
        self.odd(extra, state)
        if node.children and node.children[0].type == "((":
            self.out.arithmetic = True
            self.substitutions(node, state)
        else:
            self.statements(node.children, state, given)

    def subshell(self, node: "Node", state: State, given: Given | None, extra: Sequence["Node"]) -> None:
        self.group(node, state.copy(), given, extra)

    def listed(self, node: "Node", state: State, given: Given | None, extra: Sequence["Node"]) -> Given:
        """Commands joined by && and ||."""
        steps: list[tuple[str, Node]] = []
        while node.type == "list":
            steps.append((node.children[1].type, node.children[-1]))
            node = node.children[0]
        made = state.made
        self.statement(node, state, given)
        after_first = state.copy()
        after_first.made = made
        result = NOTHING_GIVEN
        for at, (operator, step) in enumerate(reversed(steps)):
            more = extra if at == len(steps) - 1 else ()
            if operator == "||":
                state.made = made
                self.statement(step, after_first.copy(), given, more)
            else:
                result = self.statement(step, state, given, more)
        state.join([after_first], self.out.room)
        return result

    def pipeline(self, node: "Node", state: State, given: Given | None, extra: Sequence["Node"]) -> Given:
        stages = node.named_children
        if self._is_of_names(self.source(node)):
            self.out.add("read", "environment", "name", span=self.span(stages[0]))
            given, stages = Given(), stages[1:]
        opened, before = len(self.opened), len(self.out.effects)
        for at, stage in enumerate(stages):
            given = self.statement(stage, state.copy(), given, extra if at == len(stages) - 1 else ())
            if at + 1 < len(stages) and not given.roots and self.source(stages[at + 1]).startswith("xargs"):
                known = printed.printed(self.between(stages[0].start_byte, stage.end_byte), state)
                given = given if known is None else given._replace(roots=(known,))
        self._lost(self.opened[opened:], before, self.span(node))
        return given or NOTHING_GIVEN

    def _is_of_names(self, source: str) -> bool:
        """Whether a pipeline shows only names of the environment's variables, or such as hold no secrets."""
        if source[:3].lower() not in {"env", "pri"}:
            return False
        picked = PICKED.match(source)
        return NAMES_ONLY.match(source) is not None or (picked is not None and not HIDES.search(picked[2]))

    def negated(self, node: "Node", state: State, given: Given | None, extra: Sequence["Node"]) -> Given:
        result, made = Given(), state.made
        for child in node.named_children:
            result = self.statement(child, state, given, extra)
        state.made = made
        return result

    def condition(self, node: "Node", state: State, given: Given | None, extra: Sequence["Node"]) -> None:
        """if, elif and else: what comes after `then` or `else` may run or not."""
        self.odd(extra, state)
        branches: list[State] = []
        now, made = state, state.made
        for child in node.children:
            if child.type in {"then", "else"}:
                now = state.copy()
                branches.append(now)
            elif child.type in {"elif_clause", "else_clause"}:
                branches.append(state.copy())
                branches[-1].made = made
                self.condition(child, branches[-1], given, ())
            elif child.is_named:
                self.statement(child, now, given)
        state.made = made
        state.join(branches, self.out.room)

    def loop(self, node: "Node", state: State, given: Given | None, extra: Sequence["Node"]) -> None:
        self.odd(extra, state)
        inner = state.copy()
        self._forget_assigned(node, inner)
        for child in node.named_children:
            if child.type != "comment":
                self.statement(child, inner, given)
                inner.made = state.made
        state.join([inner], self.out.room)

    def counted(self, node: "Node", state: State, given: Given | None, extra: Sequence["Node"]) -> None:
        """for ((…))."""
        self.odd(extra, state)
        self.out.arithmetic = True
        inner = state.copy()
        self._forget_assigned(node, inner)
        for child in node.named_children:
            if child.type in {"do_group", "compound_statement"}:
                self.statement(child, inner, given)
            else:
                self.substitutions(child, inner)
        state.join([inner], self.out.room)

    def each(self, node: "Node", state: State, given: Given | None, extra: Sequence["Node"]) -> None:
        """for NAME in words: gone through word by word where there are few."""
        self.odd(extra, state)
        name, *rest = node.named_children
        body = node.child_by_field_name("body")
        given_to_it = [child for child in rest if child.type not in {"do_group", "comment"} and child != body]
        values = words(self, given_to_it, state)
        inner = state.copy()
        self._forget_assigned(node, inner)
        rounds: list[Word | None] = list(values)
        if not values or len(values) > MOST_ROUNDS or node.children[0].type == "select":
            rounds = [None if any(value.loose for value in values) or not values else _common(values)]
        for value in rounds:
            inner.variables[self.source(name)] = None if value is not None and value.loose and value.exact else value
            if body is not None:
                self.statement(body, inner, given)
        state.join([inner], self.out.room)

    def choice(self, node: "Node", state: State, given: Given | None, extra: Sequence["Node"]) -> None:
        """case: any of its branches may run."""
        self.odd(extra, state)
        branches: list[State] = []
        for child in node.named_children:
            if child.type != "case_item":
                self.substitutions(child, state, whole=True)
                continue
            branches.append(state.copy())
            for at, part in enumerate(child.children):
                if child.field_name_for_child(at) == "value":
                    self.substitutions(part, state, whole=True)
                elif part.is_named:
                    self.statement(part, branches[-1], given)
        state.join(branches, self.out.room)

    def function(self, node: "Node", state: State, given: Given | None, extra: Sequence["Node"]) -> None:
        self.odd(extra, state)
        name = node.child_by_field_name("name")
        if name is None:
            return
        inner = state.copy()
        inner.blind = True
        state.functions[self.source(name)] = (self, node)
        self.out.uncalled[id(self), node.id] = partial(self.later, node, inner)

    def exported(self, names: Sequence[str], state: State) -> None:
        """Have functions read once more, for other shells that call them, whatever variables those have."""
        for owner, node in (state.functions[name] for name in names):
            inner = state.copy()
            inner.blind = True
            self.out.uncalled[id(owner), -node.id] = partial(owner.later, node, inner)

    def later(self, node: "Node", state: State) -> None:
        """Read a function that nothing in the text calls, with the traps that it sets."""
        known = len(self.traps)
        self._body(node, state, None)
        for command, last, before in self.traps[known:]:
            own.trapped(self, command, last, before)

    def _body(self, node: "Node", state: State, given: Given | None) -> None:
        """Read what a function does."""
        body = node.child_by_field_name("body")
        if body is not None:
            self.statement(body, state, given)
        for child in node.children_by_field_name("redirect"):
            self.redirect(child, state)

    def redirected(self, node: "Node", state: State, given: Given | None, extra: Sequence["Node"]) -> Given:
        """A statement with redirections; what a here-document's line holds behind it comes after it."""
        self.out.compound = True
        body = whole = node.child_by_field_name("body")
        before: State | None = None
        if body is not None and body.type == "list":  # the grammar puts what is its last command's on the whole
            made, operator = state.made, body.children[1].type
            self.statement(body.children[0], state, given)
            before = state.copy()
            before.made = made
            state.made = state.made if operator == "&&" else made
            body = body.children[-1]
        opened, known = len(self.opened), len(self.out.effects)
        more = list(extra)
        then: list[tuple[str, Node]] = []
        for child in node.named_children:
            if child == whole or child.type == "comment":
                continue
            found = self.redirect(child, state, more, then)
            given = found if found is not None else given
        result = Given()
        if body is not None:
            result = self.statement(body, state, given, more)
        elif more:
            result = self._command(more, state, given, node)
        self._lost(self.opened[opened:], known, self.span(node))
        is_empty = (body is None and not more) or result.by in NOTHING
        self._made(self.opened[opened:], Given(Word("")) if is_empty else result, self.span(node))
        for operator, child in then:
            if operator in {"|", "|&"}:
                result = self.statement(child, state.copy(), result)
            else:
                result = self.statement(child, state, None)
        if before is not None:
            state.join([before], self.out.room)
        return result

    def _lost(self, opened: Sequence[Opened], known: int, span: Span) -> None:
        """Take note of files that are emptied before what reads them has read them: `sort x | head > x`."""
        lost = {name for name, adds, is_own in opened if not adds and not is_own}
        if lost:
            new = [effect for effect in islice(self.out.effects, known, None) if effect.effect == "read"]
            for name in sorted(lost & {effect.object for effect in new if effect.of == "path"}):
                self.out.path("irreversible", Word(name, *span), None, "emptied before it is read")

    def _made(self, opened: Sequence[Opened], printed: Given, span: Span) -> None:
        """Take note of what a command printed into files, and of those that it empties or fills without an end."""
        for name, adds, is_own in opened:
            if printed.by == "yes":
                self.doubt("an output without an end", span)
            elif printed.text == Word("") and not adds and not is_own:
                self.out.path("delete", Word(name, *span), None, "what is in it")
            before = self.out.made[name].content if adds else Word("")
            self.out.made[name] = Made(joined(before, printed.text), printed.by)

    def redirect(
        self,
        node: "Node",
        state: State,
        more: list["Node"] | None = None,
        then: list[tuple[str, "Node"]] | None = None,
    ) -> Given | None:
        """Read one redirection; the input that it gives. Words that belong to the command go to `more`."""
        self.out.compound = True
        if node.type == "heredoc_redirect":
            return self._heredoc(node, state, more if more is not None else [], then if then is not None else [])
        if node.type == "herestring_redirect":
            made = words(self, node.named_children[-1:], state)
            return Given(made[0] if len(made) == 1 and made[0].exact else None)
        if node.type != "file_redirect":
            self.substitutions(node, state)
            return None
        if checks.is_torn(self.source(node), node):
            self.doubt("a line that ends elsewhere", self.span(node))
        places = node.children_by_field_name("destination")
        operator = next((child.type for child in node.children if not child.is_named), "<")
        closes = operator in {"<&-", ">&-"}
        if more is not None:
            more += places if closes else places[1:]
        if not places or closes:
            return None
        made = words(self, places[:1], state)
        for word in made:
            if operator in {"<&", ">&"} and re.fullmatch(r"\d+-?|-", word.text):
                continue
            if word.text.startswith("/dev/fd/"):
                continue
            self._open(operator, word, state, node)
        return Given(file=made[0] if len(made) == 1 else None) if operator == "<" else None

    def _open(self, operator: str, word: Word, state: State, node: "Node") -> None:
        if operator == "<":
            self.out.path("read", word, state.cwd)
        else:
            adds = operator in {">>", "&>>"}
            name = self.out.place(word, state.cwd)
            before, is_own = self.out.made.get(name, Made()), name in self.out.written
            self.out.path("write", word, state.cwd)
            self.out.made[name] = before if adds else Made()
            self.opened.append(Opened(name, adds, is_own))
        after = self.raw[node.start_byte : node.end_byte]
        if b"<>" in after:
            self.out.path("read", word, state.cwd)

    def _heredoc(self, node: "Node", state: State, more: list["Node"], then: list[tuple[str, "Node"]]) -> Given | None:
        """A here-document, and what stands behind it on its line."""
        text: Given | None = Given()
        operator = ""
        start = None
        for at, child in enumerate(node.children):
            name = node.field_name_for_child(at)
            if child.type == "heredoc_start":
                start = child
            elif child.type == "heredoc_body" and start is not None:
                text = self._document(start, child, state)
            elif child.type == "pipeline" and name is None:
                then.append((child.children[0].type, child.named_children[-1]))
            elif name == "redirect":
                self.redirect(child, state, more, then)
            elif name == "operator":
                operator = child.type
            elif name == "right":
                then.append((operator, child))
            elif name == "argument":
                more.append(child)
        return text

    def _document(self, start: "Node", body: "Node", state: State) -> Given:
        """The text of a here-document, None where something is put into it."""
        content = self.source(body)
        if checks.START.fullmatch(self.source(start)) is None:
            self.doubt("a here-document that may end elsewhere", self.span(start))
        quoted = not re.fullmatch(r"[\w.-]+", self.source(start))
        if not quoted:
            self.substitutions(body, state)
            for found in BACKQUOTES.finditer(content):
                if found[1] is not None:
                    self.out.compound = True
                    self.inner(Word(found[1], *self.span(body)), state.copy())
        if not quoted and re.search(r"[$`\\]", content):
            return Given(Word(content, *self.span(body), exact=False))
        return Given(Word(content, *self.span(body), at=self.span(body)[0] if self.at is not None else None))

    def odd(self, extra: Sequence["Node"], state: State) -> None:
        """Words behind what takes none."""
        for node in extra:
            self.doubt("words out of place", self.span(node))
            words(self, [node], state)

    def _forget_assigned(self, node: "Node", state: State) -> None:
        """Forget what is assigned anywhere in a loop: a later round sees it."""
        for found in ASSIGNED.finditer(self.source(node)):
            forget(state, [name for name in (found[1], found[3]) if name])
            forget(state, re.findall(r"\w+", found[2] or ""))

    # Substitutions

    def substitutions(self, node: "Node", state: State, *, whole: bool = False) -> None:
        """Read what is run to make `node`, wherever it stands in it."""
        waiting = [node] if whole else list(node.children)
        if not whole and node.type in {"command_substitution", "process_substitution"}:
            waiting = [node]
        while waiting:
            child = waiting.pop()
            self.out.step()
            kind = child.type
            if kind in {"command_substitution", "process_substitution"}:
                self.out.compound = True
                inner = state.copy()
                self.depth += 1
                self.statements(child.children, inner)
                self.depth -= 1
            elif kind in {"file_redirect", "heredoc_redirect", "herestring_redirect"}:
                self.redirect(child, state)
            elif kind in {"simple_expansion", "expansion"}:
                self._checked(child)
                waiting += child.children
            elif kind in HANDLERS:
                self.statement(child, state)
            else:
                if kind == "arithmetic_expansion":
                    self.out.arithmetic = True
                waiting += child.children

    def _checked(self, node: "Node") -> None:
        source = self.source(node)
        if node.type == "simple_expansion" and VARIABLE.fullmatch(source) is None:
            self.doubt("a line that ends elsewhere", self.span(node))
        if source.endswith(("@P}", "@E}")):
            self.doubt("a value that is run", self.span(node))
        self.out.arithmetic |= "[" in source or source.startswith("${!")

    def output(self, node: "Node", state: State) -> Word | None:
        """Read a substitution; what it would print, where that is known."""
        self.substitutions(node, state)
        return printed.printed(self.source(node).strip("$()` \n"), state)

    # Commands

    def command(self, node: "Node", state: State, given: Given | None, extra: Sequence["Node"]) -> Given:
        assigned: list[Node] = []
        parts: list[Node] = []
        for child in node.children:
            kind = child.type
            if kind in SHORT:
                parts.append(child)
            elif kind == "variable_assignment":
                assigned.append(child)
            elif kind in {"file_redirect", "herestring_redirect", "heredoc_redirect"}:
                found = self.redirect(child, state, parts)
                given = found if found is not None else given
            elif kind == "subshell":
                self.doubt("words out of place", self.span(child))
                self.statement(child, state, given)
            elif kind == "regex":
                self.doubt("words out of place", self.span(child))
            elif kind != "comment":
                parts.append(child)
        if parts and not assigned and self._is_test(parts[0], state):
            self.test(node, state, given, extra)
            return NOTHING_GIVEN
        parts += extra
        return self._command(parts, state, given, node, assigned)

    def _is_test(self, name: "Node", state: State) -> bool:
        """Whether a command is test, as [ … ] is."""
        return (
            self.raw[name.start_byte : name.end_byte] == b"test"
            and "test" not in state.functions
            and "test" not in state.aliases
        )

    def _command(
        self,
        parts: Sequence["Node"],
        state: State,
        given: Given | None,
        node: "Node",
        assigned: Sequence["Node"] = (),
    ) -> Given:
        effects: set[int] = set()
        if self.at is not None and not self.out.open:
            effects = self.out.commands.setdefault(self.span(node), effects)
        self.out.open.append(effects)
        before = state.given
        try:
            for one in assigned:
                variables.assignment(self, one, state, kept=False)
            return self.run(words(self, parts, state), state, given) or NOTHING_GIVEN
        finally:
            if assigned:
                state.given = before
            self.out.open.pop()

    def run(self, argv: Sequence[Word], state: State, given: Given | None = None) -> Given | None:
        """Read a command from its words."""
        self.depth += 1
        self.out.step()
        if self.depth > MOST_DEPTH:
            raise TooMuch
        try:
            return commands.run(self, argv, state, given)
        finally:
            self.depth -= 1

    def call(self, name: str, node: "Node", state: State, given: Given | None) -> None:
        """Read a function of this text where it is called, by itself or in code inside it."""
        if name in self.calls:  # how often, only a run tells
            self.doubt("a function that calls itself", self.span(node))
            return
        self.out.uncalled.pop((id(self), node.id), None)
        self.calls.add(name)
        self._body(node, state, given)
        self.calls.discard(name)

    def inner(self, word: Word, state: State, given: Given | None = None) -> None:
        """Read shell code that stands in `word`."""
        if not word.exact:
            self.doubt("code made at run time", (word.start, word.end))
        text = Text(word.text, self.out, (word.start, word.end), word.at if word.exact else None, self.depth + 1)
        text.read(state, given)

    def test(self, node: "Node", state: State, given: Given | None, extra: Sequence["Node"]) -> None:
        """[ … ] and [[ … ]]: nothing but what is run to make their words."""
        self.odd(extra, state)
        double = node.children[0].type == "[["
        self.out.arithmetic |= double
        if commands.RUN_NAME.search(self.source(node)):
            self.doubt("a name that is run", self.span(node))
        waiting = list(node.children)
        while waiting and not double:
            child = waiting.pop()
            if child.type == "binary_expression" and any(part.type in {"<", ">"} for part in child.children):
                self.doubt("redirection in a test", self.span(child))
            if not child.type.endswith("substitution"):
                waiting += child.children
        self.substitutions(node, state)


def joined(before: Word | None, after: Word | None) -> Word | None:
    """One text behind another, where both are known."""
    if before is None or after is None:
        return None
    if not before.text:
        return after
    return Word(before.text + after.text, before.start, after.end, before.exact and after.exact)


def _common(values: Sequence[Word]) -> Word | None:
    """One word that stands for many: their directory where that is the same."""
    starts = {value.text.rpartition("/")[0] for value in values}
    if len(starts) == 1 and not any(value.text.startswith(("-", "$")) for value in values):
        start = starts.pop()
        return Word(f"{start}/*" if start else "*", values[0].start, values[-1].end, exact=False)
    return None


LINES = frozenset({"command", "variable_assignment", "variable_assignments", "declaration_command", "unset_command"})
Handler = Callable[[Text, "Node", State, Given | None, Sequence["Node"]], Given | None]
HANDLERS: dict[str, Handler] = {
    "program": Text.group,
    "command": Text.command,
    "redirected_statement": Text.redirected,
    "list": Text.listed,
    "pipeline": Text.pipeline,
    "compound_statement": Text.group,
    "do_group": Text.group,
    "subshell": Text.subshell,
    "negated_command": Text.negated,
    "if_statement": Text.condition,
    "elif_clause": Text.condition,
    "else_clause": Text.condition,
    "while_statement": Text.loop,
    "for_statement": Text.each,
    "c_style_for_statement": Text.counted,
    "case_statement": Text.choice,
    "function_definition": Text.function,
    "variable_assignment": variables.assignments,
    "variable_assignments": variables.assignments,
    "declaration_command": variables.declaration,
    "unset_command": variables.unset,
    "test_command": Text.test,
}
