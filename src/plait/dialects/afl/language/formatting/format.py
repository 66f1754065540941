"""Formats a file."""

from __future__ import annotations

import msgspec

from plait.dialects.afl.language.diagnostic import Diagnostic, Diagnostics, sorted_diagnostics
from plait.dialects.afl.language.parser import Parsed, parse
from plait.dialects.afl.language.source_file import SourceFile, SourceText
from plait.dialects.afl.language.tree import (
    AndThen,
    Block,
    Catch,
    Declaration,
    Facet,
    Implicit,
    Namespace,
    Prompt,
    Schema,
    Script,
    Step,
    SysAssert,
    SysLog,
    Use,
    When,
    same_program,
)

from .inline import INDENT, WIDTH, Inline, broken
from .lines import Lines

_WORDS = {"facet": "facet", "event": "event facet", "workflow": "workflow"}


class Formatted(msgspec.Struct, frozen=True):
    """The formatted text, or why there is none: text with syntax errors is left alone."""

    text: str | None
    diagnostics: tuple[Diagnostic, ...] = ()


def format_source(file: SourceFile) -> Formatted:
    diagnostics = Diagnostics()
    parsed = parse(SourceText(file), diagnostics)
    if diagnostics.found:
        return Formatted(None, sorted_diagnostics(diagnostics.found, [file.name]))
    text = _Formatter(parsed).run()
    again = parse(SourceText(SourceFile(file.name, text)), Diagnostics())
    if not same_program(parsed.tree, again.tree):
        raise AssertionError(f"formatting {file.name} would have changed its meaning")
    return Formatted(text)


class _Formatter:
    def __init__(self, parsed: Parsed) -> None:
        self._tree = parsed.tree
        self._inline = Inline(parsed.source)
        self._lines = Lines(parsed.source, parsed.comments)

    def run(self) -> str:
        for member in self._tree.members:
            if isinstance(member, Namespace):
                self._namespace(member)
            else:
                self._declaration(member)
        self._lines.finish()
        return self._lines.text()

    def _namespace(self, node: Namespace) -> None:
        self._lines.before(node.start, node.name.end, node.doc)
        self._lines.put(f"namespace {node.name.text} ")
        self._lines.open(node.name.end)
        for member in node.members:
            if isinstance(member, Use):
                self._lines.before(member.start, member.end)
                self._lines.put(f"use {member.name.text}")
                self._lines.after(member.end)
            else:
                self._declaration(member)
        self._lines.close(node.end)
        self._lines.after(node.end)

    def _declaration(self, node: Declaration) -> None:
        match node:
            case Facet():
                self._facet(node)
            case Schema():
                self._schema(node)
            case Implicit():
                self._lines.before(node.start, node.end)
                head = f"implicit {node.name.text} = "
                self._lines.put(head + self._inline.call(node.call, self._lines.indent, head))
        self._lines.after(node.end)

    def _schema(self, node: Schema) -> None:
        self._lines.before(node.start, node.name.end, node.doc)
        self._lines.put(f"schema {node.name.text} ")
        self._lines.open(node.name.end)
        for at, field in enumerate(node.fields):
            self._lines.before(field.start, field.end)
            comma = "," if at < len(node.fields) - 1 else ""
            self._lines.put(self._inline.parameter(field) + comma)
            self._lines.after(field.end)
        self._lines.close(node.end)

    def _facet(self, node: Facet) -> None:
        tail = node.script or node.prompt or (node.bodies[0] if node.bodies else None) or node.catch
        self._lines.before(node.start, tail.start if tail is not None else node.end, node.doc)
        self._lines.put(self._head(node))
        if node.script is not None:
            self._lines.extend(" ")
            self._script(node.script)
        if node.prompt is not None:
            self._prompt(node.prompt)
        for body in node.bodies:
            self._and_then(body)
        self._catch(node.catch)

    def _head(self, node: Facet) -> str:
        inline, indent = self._inline, self._lines.indent
        word = f"{_WORDS[node.kind]} {node.name.text}"
        returns = f" => {inline.parameters(node.returns)}" if node.returns else ""
        mixins = "".join(map(inline.mixin, node.mixins))
        line = f"{word}{inline.parameters(node.parameters)}{returns}{mixins}"
        if len(indent) + len(line) <= WIDTH or "\n" in line:
            return line
        parameters = broken(map(inline.parameter, node.parameters), indent)
        returns = f" => {broken(map(inline.parameter, node.returns), indent)}" if node.returns else ""
        mixins = "".join(f"\n{indent}{INDENT}{inline.mixin(each).lstrip()}" for each in node.mixins)
        return f"{word}{parameters}{returns}{mixins}"

    def _prompt(self, node: Prompt) -> None:
        self._lines.extend(" prompt ")
        self._lines.open(node.start)
        for entry in node.entries:
            self._lines.before(entry.start, entry.end)
            self._lines.put(f"{entry.key.text} {self._inline.written(entry.text)}")
            self._lines.after(entry.end)
        self._lines.close(node.end)

    def _and_then(self, node: AndThen) -> None:
        self._lines.extend(" andThen ")
        if node.foreach is not None:
            source = self._inline.expression(node.foreach.source)
            self._lines.extend(f"foreach {node.foreach.variable.text} in {source} ")
        self._body(node.body)

    def _catch(self, node: Catch | None) -> None:
        if node is not None:
            self._lines.extend(" catch ")
            self._body(node.body)

    def _body(self, node: Block | When | Script) -> None:
        match node:
            case Block():
                self._block(node)
            case When():
                self._when(node)
            case Script():
                self._script(node)

    def _script(self, node: Script) -> None:
        language = f" {node.language.text}" if node.language is not None else ""
        if not node.braces:
            self._lines.extend(f"script{language} {self._inline.between(node.code_start, node.end)}")
            return
        self._lines.extend(f"script{language} {{")
        indent = self._lines.indent
        for line in node.code.split("\n"):
            self._lines.put_raw(f"{indent}{INDENT}{line}" if line else "")
        self._lines.put("}")

    def _when(self, node: When) -> None:
        self._lines.extend("when ")
        self._lines.open(node.start)
        for case in node.cases:
            self._lines.before(case.start, case.block.start)
            condition = "_" if case.condition is None else self._inline.expression(case.condition)
            self._lines.put(f"case {condition} => ")
            self._block(case.block)
            self._lines.after(case.end)
        self._lines.close(node.end)

    def _block(self, node: Block) -> None:
        self._lines.open(node.start)
        for statement in node.statements:
            match statement:
                case Step():
                    self._step(statement)
                case SysLog():
                    self._lines.before(statement.start, statement.end)
                    self._lines.put(f"sys.log{self._inline.arguments(statement.arguments)}")
                case SysAssert():
                    self._lines.before(statement.start, statement.end)
                    self._lines.put(f"sys.assert({self._inline.expression(statement.condition)})")
            self._lines.after(statement.end)
        for each in node.yields:
            self._lines.before(each.start, each.end)
            self._lines.put("yield " + self._inline.call(each.call, self._lines.indent, "yield "))
            self._lines.after(each.end)
        self._lines.close(node.end)

    def _step(self, node: Step) -> None:
        tail = node.bodies[0] if node.bodies else node.catch
        self._lines.before(node.start, tail.start if tail is not None else node.end)
        head = f"{node.name.text} = "
        self._lines.put(head + self._inline.call(node.call, self._lines.indent, head))
        for body in node.bodies:
            self._and_then(body)
        self._catch(node.catch)
