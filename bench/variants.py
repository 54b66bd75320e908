"""Two settings of our lerobot-train against each other: alternating pairs of runs, one table, ratios. See README.md."""

import re
import shlex
import shutil

import common
import pairs
import trainer_run

FLOAT32_AND_BF16 = {"float32": [], "bf16": ["--accelerator.mixed_precision=bf16"]}


def main():
    parser = trainer_run.argument_parser(__doc__, steps=20)
    parser.add_argument("--pairs", type=trainer_run.positive, default=5, help="runs of each")
    parser.add_argument("--variant", action="append", metavar="NAME=FLAGS",
                        help="a setting and its flags, separated by blanks, maybe none; twice. Without: float32 and bf16")
    options = trainer_run.parse_arguments(parser)
    variants = read_variants(parser, options.variant) if options.variant else FLOAT32_AND_BF16
    names = tuple(variants)
    facts = common.machine()
    common.warn_if_busy(facts)
    work = common.work_directory()
    flags = trainer_run.trainer_flags(options)
    runs = pairs.run_trainers({name: [options.ours, *flags, *variants[name]] for name in names}, work, options)
    shutil.rmtree(work)
    ratio = (names[1], names[0])
    summary = pairs.summarize(runs, names, ratio, pairs.TRAINER_ROWS)
    title = pairs.title_of(f"{options.policy}, {names[1]} against {names[0]},", options)
    pairs.print_table([title, common.machine_line(facts)], names, ratio, summary)
    pairs.print_losses(runs, names)
    path = options.json or common.ROOT / f"build/bench/{names[1]}_against_{names[0]}_{options.dataset.name}.json"
    common.write_json(path, {"title": title, "machine": facts, "versions": {"ours": common.our_version()},
                                  "variants": variants, "summary": summary, "pairs": pairs.as_json(runs)})
    return 0


def read_variants(parser, texts):
    variants = {}
    for text in texts:
        name, equals, flags = text.partition("=")
        if not equals or not re.fullmatch(r"[\w.+-]+", name):
            parser.error(f"--variant {text!r} is not NAME=FLAGS, the name made of letters, digits and . + - _")
        variants[name] = shlex.split(flags)
    if len(variants) != 2 or len(texts) != 2:
        parser.error(f"--variant: {len(texts)} given ({', '.join(variants)}), two with different names are needed")
    return variants


if __name__ == "__main__":
    common.run_main("precision", main)
