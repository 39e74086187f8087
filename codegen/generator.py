"""The xsdata plugin: classes in, one Python module per schema out."""

import keyword
import textwrap
from collections.abc import Iterator
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from xsdata.codegen.models import Class
from xsdata.codegen.resolver import DependenciesResolver
from xsdata.codegen.writer import CodeWriter
from xsdata.formats.dataclass.filters import Filters
from xsdata.formats.mixins import AbstractGenerator, GeneratorResult
from xsdata.models.config import GeneratorConfig
from xsdata.utils.text import snake_case

from codegen.model import Field, Model, Names

FORMAT = "msgspec"
LINE_LENGTH = 110
_TEMPLATES = Path(__file__).parent / "templates"


class MsgspecGenerator(AbstractGenerator):
    """Renders xsdata's analysed classes as msgspec structs with straight-line writers."""

    __slots__ = ("env", "names")

    def __init__(self, config: GeneratorConfig) -> None:
        super().__init__(config)
        filters = Filters(config)
        self.names = Names(
            type=filters.class_name,
            field=_identifier,
            constant=lambda name: filters.constant_name(name, ""),
            function=snake_case,
        )
        self.env = _environment()

    def render(self, classes: list[Class]) -> Iterator[GeneratorResult]:
        """The package's docstring and one module per schema; sources are not formatted yet."""
        model = Model(classes, self.names)
        resolver = DependenciesResolver(registry={obj.qname: obj.target_module for obj in classes})
        modules = self.group_by_module(classes)
        package = next(iter(modules)).parent
        yield GeneratorResult(
            package / "__init__.py", "init", self.env.get_template("package.jinja2").render()
        )
        for path, cluster in modules.items():
            resolver.process(cluster)
            yield GeneratorResult(
                path.with_suffix(".py"), path.name, self._module(model, resolver, path.name)
            )

    def _module(self, model: Model, resolver: DependenciesResolver, schema: str) -> str:
        imports = [
            (item.source, self.names.type(item.name), model.helpers(item.qname))
            for item in resolver.sorted_imports()
        ]
        classes = resolver.sorted_classes()
        return self.env.get_template("module.jinja2").render(
            schema=schema,
            imports=imports,
            enumerations=[model.enumeration(obj) for obj in classes if obj.is_enumeration],
            structs=[model.struct(obj) for obj in classes if not obj.is_enumeration],
        )


def _identifier(name: str) -> str:
    """`name` in snake case, with an underscore behind it where the word is reserved in Python."""
    text = snake_case(name)
    return f"{text}_" if keyword.iskeyword(text) else text


def dense(source: str) -> str:
    """`source` without the empty lines that template blocks leave behind."""
    return "".join(line for line in source.splitlines(keepends=True) if line.strip())


def _environment() -> Environment:
    env = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=StrictUndefined,
    )
    env.filters["value"] = value
    env.filters["wrapped"] = wrapped
    env.filters["dense"] = dense
    return env


def value(expression: str, field: Field) -> str:
    """The replacement field of an f-string that writes `expression` as `field` wants it."""
    return {
        "text": f"{{escaped[{expression}]}}",
        "integer": f"{{{expression}}}",
        "decimal": f"{{plain({expression})}}",
        "flag": f'{{"1" if {expression} else "0"}}',
        "boolean": f'{{"true" if {expression} else "false"}}',
        "time": f"{{utc({expression})}}",
        "date": f"{{{expression}.isoformat()}}",
        "enum": f"{{{field.helper}[{expression}]}}",
    }[field.kind]


def wrapped(text: str, indent: int, hanging: int = 0) -> str:
    """`text` broken to the line length, every line after the first indented."""
    lines = textwrap.wrap(
        text,
        LINE_LENGTH - indent,
        subsequent_indent=" " * hanging,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return ("\n" + " " * indent).join(lines)


CodeWriter.register_generator(FORMAT, MsgspecGenerator)
