"""`ragassay experiment`: a declared grid of settings on questions for development. Chooses by no rule of its own."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import ragassay.benchmark
from ragassay.assay import Frozen, freeze_corpus
from ragassay.benchmark import Built, CaseReading
from ragassay.cli import talk
from ragassay.cli.experiment_helpers import helpers
from ragassay.cli.files import replace_file, writing
from ragassay.cli.settings import FILE_NAME, Settings, read_table, settings_of
from ragassay.cli.systems import make_system
from ragassay.cli.workspace import Workspace, cases_of, corpus_of, open_store, plan_of, read_documents
from ragassay.errors import RagassayError, UsageError
from ragassay.records.base import Digest
from ragassay.records.canonical import digest_of
from ragassay.records.experiment import Experiment
from ragassay.records.text import instant, many
from ragassay.run import System
from ragassay.store import Store
from ragassay.store.unwritten import Unwritten
from ragassay.trials import table
from ragassay.trials.asking import Ready, Together, alone, sealed_of, standing
from ragassay.trials.cache import StepCache
from ragassay.trials.choice import choice_of
from ragassay.trials.experiment import Result, perform_experiment
from ragassay.trials.grid import Declared, Setting, applied, read_experiment
from ragassay.trials.sharing import Sharing
from ragassay.trials.split import Split, check_apart, split_of


def experiment(
    file: Path | None = None,
    *,
    dry_run: bool = False,
    list: bool = False,  # noqa: A002  the option's name
    out: Path | None = None,
    processes: int | None = None,
    config: Path = Path(FILE_NAME),
    store: Path | None = None,
    json: bool = False,
) -> None:
    """Try a declared grid of settings on the questions for development, and choose one by a declared measure.

    Every setting is a run in the store. Killed or interrupted, the same command goes on where it stopped, and finished
    settings are not asked again. Steps that settings have in common are done once. The release split is refused.

    Parameters
    ----------
    file
        The TOML file that declares the experiment (docs/experiments.md).
    dry_run
        Ask nothing, write nothing: list the settings, and which of them are finished.
    list
        List the experiments of the store instead: settings tried, and the one chosen.
    out
        Also write NAME.html, NAME.md and NAME.json into this folder.
    processes
        How many processes ask settings at once; left out: one for each processor, 4 at most, where there is enough to
        ask and no system sends requests.
    config
        The settings file, for --list; an experiment names its own.
    store
        The store's folder, instead of the one in the settings.
    json
        Data as JSON on standard output.
    """
    if list:
        return _list(open_store(config, store), as_json=json)
    if file is None:
        raise UsageError("no experiment is named", hint="ragassay experiment FILE.toml; docs/experiments.md shows one")
    declared = read_experiment(file)
    making = Making(declared, store, unwritten=dry_run)
    if dry_run:
        return _say_plan(making, as_json=json)
    result = run_experiment(making, together=helpers(making, processes))
    if out is not None:
        _write(result, out)
    if json:
        talk.data_json(table.to_json(result))
    else:
        for line in table.terminal(result):
            talk.data(line)
    chosen = result.record.chosen
    name = declared.run_name(declared.settings[chosen or 0])
    talk.then(f"ragassay report {name}" if chosen is not None else "ragassay runs", declared.base, store)


class Making:
    """Documents read once, cut once for each segmentation, and the questions for development among those declared."""

    def __init__(self, declared: Declared, store: Path | None, *, unwritten: bool = False) -> None:
        self.declared = declared
        self._text, self._table = read_table(declared.base)
        base = settings_of(self._table, self._text, declared.base)
        path = store or declared.base.parent / base.store.path
        self.store: Store = Unwritten.over(path) if unwritten else Store.open(path, create=True)
        self.settings = {one.digest: self._settings(one) for one in declared.settings}
        self._frozen: dict[str, Frozen] = {}
        self._workspace = self._of(base)
        self._documents: Any = None if base.corpus.documents is None else read_documents(self._workspace)
        first = self.frozen(self.settings[declared.settings[0].digest])
        reading = cases_of(self._workspace, first.documents if base.corpus.documents is not None else None)
        self.split, self.built = self._built(base, reading, first)
        self.cases = ragassay.benchmark.load(self.store, self.built.benchmark)
        try:
            self.choice = choice_of(declared.section, self.cases)
        except RagassayError as error:
            raise error.at(file=str(declared.path)) from None
        self._ready = {one.digest: self._made(one) for one in declared.settings}

    def _of(self, settings: Settings) -> Workspace:
        return Workspace(settings, self.declared.base.parent, self.store, self.declared.base)

    def _settings(self, setting: Setting) -> Settings:
        """The whole settings of one point of the grid, checked before anything is asked."""
        try:
            return settings_of(applied(self._table, setting))
        except RagassayError as error:
            raise self._named(error, setting)  # noqa: B904  the same error, with its place

    def _named(self, error: RagassayError, setting: Setting) -> RagassayError:
        error.message = f"setting {setting.label}: {error.message}"
        return error.at(file=str(self.declared.path))

    def _built(self, base: Settings, reading: CaseReading, frozen: Frozen) -> tuple[Split, Built]:
        wanted = base.benchmark
        of_settings = wanted.split or ("test" if wanted.format == "beir" else None)
        files = [one for one in (wanted.cases, wanted.topics, wanted.qrels) if one is not None]
        declared = self.declared.section.split
        split = split_of(wanted.name, reading, of_settings=of_settings, files=files, declared=declared)
        if split.left_out:
            talk.say(f"{many(split.left_out, 'question')} of other splits left out")
            kept = [one for one in reading if one.query_id in split.queries]
            reading = _like(reading, kept)
        check_apart(self.store, reading)  # before a benchmark of this name takes the place of an earlier one
        built = ragassay.benchmark.build(
            self.store,
            reading,
            frozen.corpus,
            frozen.documents,
            name=f"{wanted.name}-dev" if split.left_out else wanted.name,
            version=wanted.version,
            completeness=wanted.completeness,
            as_of=instant(base.run.as_of),
        )
        return split, built

    def frozen(self, settings: Settings) -> Frozen:
        """The documents, cut as these settings say."""
        cut = settings.segmentation
        key = digest_of([cut.chunker, cut.told()])
        if key not in self._frozen:
            base = self._workspace.settings
            if self._documents is None:
                self._frozen[key] = corpus_of(self._of(settings))
            else:
                own = (cut.chunker, cut.told()) == (base.segmentation.chunker, base.segmentation.told())
                name = base.corpus.name if own else f"{base.corpus.name}-{key[7:15]}"
                said = base.corpus.provenance
                self._frozen[key] = freeze_corpus(
                    self.store, self._documents, name=name, chunker=cut.chunker, provenance=said, **cut.told()
                )
        return self._frozen[key]

    def systems(self) -> Sequence[System]:
        """The systems of the settings that were not handed out."""
        return [one.system for one in self._ready.values()]

    def ready(self, setting: Setting) -> Ready:
        """What is needed to ask under one setting; handed out once, since a system is asked once."""
        return self._ready.pop(setting.digest)

    def _made(self, setting: Setting) -> Ready:
        """The system of one setting, so that what is wrong with any of them is said before the first is asked."""
        settings = self.settings[setting.digest]
        frozen = self.frozen(settings)
        described = {key: value for key, value in settings.system.items() if key != "prices"}
        as_of = instant(settings.run.as_of)
        try:
            system = make_system(described, self.declared.base.parent, frozen, as_of, store=self.store.path)
        except RagassayError as error:
            raise self._named(error, setting)  # noqa: B904  the same error, with its place
        return Ready(frozen, self.built, system, plan_of(settings))


def _like(reading: CaseReading, kept: list[Any]) -> CaseReading:
    """Some of the cases of a reading, with all else that it says."""
    import copy

    made = copy.copy(reading)
    made[:] = kept
    return made


def run_experiment(making: Making, *, together: Together = alone) -> Result:
    """The experiment, finished; `together` asks some of it in other processes."""
    import anyio

    from ragassay.run.progress import Silent, choose

    declared = making.declared
    sharing = Sharing(StepCache.of_store(making.store.path)) if declared.section.share else None
    count = len(declared.settings)

    def tell(place: int, setting: Setting, said: str) -> None:
        talk.say(f"setting {place + 1} of {count}, {setting.label}: {said}")

    async def go() -> Result:
        return await perform_experiment(
            making.store, declared, making.split, making.choice, making.cases, making.ready, sharing,
            progress=lambda: Silent() if talk.quiet else choose(), tell=tell, together=together,
        )  # fmt: skip

    try:
        with redirect_stdout(sys.stderr):  # what a system under test prints is talk; standard output is data
            return anyio.run(go)
    finally:
        if sharing is not None:
            sharing.cache.close()


def _say_plan(making: Making, *, as_json: bool) -> None:
    declared, seen = making.declared, dict[Digest, str]()
    rows: list[Mapping[str, Any]] = []
    for setting in declared.settings:
        with redirect_stdout(sys.stderr):
            ready = making.ready(setting)
            _, sealed = sealed_of(making.store, declared, setting, ready, making.choice)
        found = standing(making.store, declared, setting, sealed)
        subject = sealed.protocol.subject
        same = seen.setdefault(subject, setting.label)
        state = found.state if same == setting.label else f"the same system as {same}"
        asked = ready.built.benchmark.cases * ready.plan.repeats
        left = asked - found.kept if same == setting.label else 0
        rows.append({"setting": setting.label, "run": declared.run_name(setting), "state": state, "questions": left})
    total = sum(int(one["questions"]) for one in rows)
    if as_json:
        talk.data_json(
            {"name": declared.section.name, "split_by": making.split.by, "questions": total, "settings": rows}
        )
    else:
        for number, one in enumerate(rows, 1):
            talk.data(talk.plain(f"{number:>3}  {one['setting']}  {one['state']}, {one['questions']} to be asked"))
        talk.data(
            f"{many(len(rows), 'setting')}, {many(total, 'question')} to be asked; "
            f"the split is dev by {making.split.by}"
        )
    talk.then(f"ragassay experiment {declared.path}")


def _list(store: Store, *, as_json: bool) -> None:
    found = [(ref, store.get_record(Experiment, ref.digest)) for ref in store.refs("experiment/")]
    if as_json:
        import msgspec

        talk.data_json([{"experiment": ref.digest, **msgspec.to_builtins(one)} for ref, one in found])
    for ref, one in found if not as_json else ():
        chosen = "nothing chosen" if one.chosen is None else f"chosen {one.tried[one.chosen].label}"
        others = f", not told apart from {len(one.not_told_apart)}" if one.not_told_apart else ""
        talk.data(
            talk.plain(
                f"{one.name}  {many(len(one.tried), 'setting')}  {one.choice.measure}  {chosen}{others}  "
                f"{ref.digest[:19]}"
            )
        )
    if not found and not as_json:
        talk.say("this store holds no experiment yet")
    talk.then("ragassay experiment FILE.toml")


def _write(result: Result, out: Path) -> None:
    import json

    made = {
        "html": table.page(result),
        "md": table.markdown(result),
        "json": talk.json_text(json.dumps(table.to_json(result), indent=2, allow_nan=False)) + "\n",
    }
    with writing(out):
        out.mkdir(parents=True, exist_ok=True)
        for kind, text in made.items():
            path = out / f"{result.record.name}.{kind}"
            replace_file(path, [text.encode()])
            talk.say(str(path))
