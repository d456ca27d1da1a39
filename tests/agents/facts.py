"""Fixture homes for the agents that can be run: what each file of them is there to show stands in its name or text."""

import json

from tests.agents.measured import Fixture

_LONG = "- [a{}](a.md): so long that what the warning about the cut quotes of it ends before here %\n"
_FIRST = "- a first line longer than all that is loaded " + "of words and words %" * 3_000 + "\n- second %\n"
MEMORY = "~/.claude/projects/@S@/memory/MEMORY.md"


def _index(line: str, count: int, head: str = "") -> str:
    return head + "".join(line.format(number) for number in range(count))


def _plain(*names: str) -> dict[str, str]:
    return dict.fromkeys(names, "%\n")


def _instructions(*names: str) -> str:
    return json.dumps({"instructions": names})


CLAUDE_CODE = (
    Fixture(
        "claude-code",
        "the hierarchy",
        {
            "~/.claude/CLAUDE.md": "%\n",
            "~/.claude/rules/always.md": "%\n",
            "~/.claude/rules/some.md": '---\npaths: "src/**"\n---\n%\n',
            "~/CLAUDE.md": "%\n@notes.md\n",
            "CLAUDE.md": "---\ntitle: %\n---\n%\n<!-- for people %\n-->\n@docs/above.md @sub/near.md\n"
            "```\n@fence.md\n```\n",
            ".claude/rules/all.md": '---\npaths: "**"\n---\n%\n',
            ".claude/rules/both.md": '---\npaths: ["**/**", "**"]\n---\n%\n',
            MEMORY: "---\ntitle: %\n---\n- [a](a.md) %\n<!-- %\n-->\n",
            "~/.claude/projects/@S@/memory/a.md": "%\n",
            **_plain("~/notes.md", "docs/above.md", "sub/near.md", "fence.md"),
            **_plain(".claude/CLAUDE.md", "CLAUDE.local.md", "sub/CLAUDE.md", "sub/deep/CLAUDE.md", "AGENTS.md"),
            **_plain("~/.claude/agent-memory/x/MEMORY.md"),
        },
        start="sub",
    ),
    Fixture(
        "claude-code",
        "what a rule imports",
        {
            ".claude/rules/mixed.md": '---\npaths: ["**", "src/**"]\n---\n%\n@../../by-rule.md\n',
            **_plain("by-rule.md"),
        },
    ),
    Fixture("claude-code", "an index in Japanese", {MEMORY: _index("- [" + "日本語" * 45 + "{}](a.md) %\n", 100)}),
    Fixture("claude-code", "an index with dashes", {MEMORY: _index("- [a](a.md) — " + "— word " * 18 + "%\n", 199)}),
    Fixture("claude-code", "an index of 205 lines", {MEMORY: _index(_LONG, 205, "---\nx: y\n---\n")}),
    Fixture("claude-code", "a first line that is too long", {MEMORY: _FIRST}),
    Fixture(
        "claude-code",
        "links of the user's own",
        {
            "~/dotfiles/CLAUDE.md": "%\n@~/notes/x.md @@T@/h/u/notes/y.md @/etc/memtui-is-not-there.md\n",
            **_plain("~/notes/x.md", "~/notes/y.md", "~/dotfiles/r.md", "~/work/P.md", "~/work/R.md"),
        },
        links={
            "~/.claude/CLAUDE.md": "~/dotfiles/CLAUDE.md",
            "~/.claude/rules/r.md": "~/dotfiles/r.md",
            "CLAUDE.md": "~/work/P.md",
            ".claude/rules/out.md": "~/work/R.md",
        },
    ),
    Fixture(
        "claude-code",
        "dotfiles in git",
        {
            "~/kept/rules/some.md": '---\npaths: "src/**"\n---\n%\n',
            "~/kept/CLAUDE.md": "%\n@near.md @./beside.md @~/notes/x.md\n",
            **_plain("~/kept/.git/HEAD", "~/kept/rules/a.md", "~/kept/rules/d/b.md", "~/kept/near.md"),
            **_plain("~/.claude/near.md", "~/.claude/beside.md", "~/notes/x.md", "^/opt/o.md", "~/more/c.md"),
        },
        links={
            "~/.claude/rules": "~/kept/rules",
            "~/.claude/CLAUDE.md": "~/kept/CLAUDE.md",
            "~/kept/rules/more": "~/more",
            "~/kept/rules/loop": "~/kept/rules",
            "~/kept/rules/o.md": "^/opt/o.md",
        },
    ),
    Fixture(
        "claude-code",
        "folders of rules behind links",
        {
            "~/team/some.md": '---\npaths: "src/**"\n---\n%\n',
            **_plain("~/.claude/rules/own.md", "~/team/a.md", "~/team/d/b.md", ".claude/rules/c.md", "more/e.md"),
        },
        links={"~/.claude/rules/team": "~/team", ".claude/rules/in": "more", ".claude/rules/out": "~/team"},
    ),
    Fixture("claude-code", "rules behind a link out", _plain("~/work/a.md"), links={".claude/rules": "~/work"}),
    Fixture("claude-code", "rules behind a link within", _plain("shared/a.md"), links={".claude/rules": "shared"}),
    Fixture(
        "claude-code",
        "imports",
        {
            "CLAUDE.md": "%\n@docs/frag.md#part @docs/sp\\ ace.md @_under/x.md @1num.md **@docs/bold.md** *@em.md*\n"
            "_@line.md_ [@link.md](x) @docs/comma.md, @docs/dot.md. @img.png @script.zzz (@round.md) @back\\slash.md\n"
            "**see @late.md**, @twice.md @twice.md @Makefile `@code.md` @~/out.md @chain1.md\n| @cell.md | x |\n",
            "chain1.md": "%\n@chain2.md\n",
            "chain2.md": "%\n@chain3.md\n",
            "chain3.md": "%\n@chain4.md\n",
            "chain4.md": "%\n@chain5.md\n",
            **_plain("chain5.md", "docs/frag.md", "docs/sp ace.md", "_under/x.md", "1num.md", "docs/bold.md", "em.md"),
            **_plain("line.md", "link.md", "docs/comma.md", "docs/dot.md", "img.png", "script.zzz", "round.md", "back"),
            **_plain("late.md", "twice.md", "Makefile", "code.md", "~/out.md", "cell.md"),
        },
    ),
    Fixture(
        "claude-code",
        "imports that were approved",
        {
            "~/.claude.json": '{"projects": {"@T@/h/u/app": {"hasClaudeMdExternalIncludesApproved": true}}}',
            "CLAUDE.md": "%\n@~/out.md @docs/above.md\n",
            "~/CLAUDE.md": "%\n@notes.md\n",
            **_plain("~/out.md", "docs/above.md", "~/notes.md"),
        },
        start="sub",
    ),
    Fixture(
        "claude-code",
        "an agent's folder elsewhere",
        _plain("~/own/CLAUDE.md", "~/own/rules/r.md", "~/.claude/CLAUDE.md", "~/own/projects/@S@/memory/MEMORY.md"),
        environ={"CLAUDE_CONFIG_DIR": "@T@/h/u/own"},
    ),
    Fixture(
        "claude-code",
        "a worktree in its checkout",
        {
            **_plain("CLAUDE.md", ".claude/CLAUDE.md", ".claude/rules/r.md", "CLAUDE.local.md"),
            **_plain(".claude/worktrees/w/CLAUDE.md", ".claude/worktrees/w/CLAUDE.local.md", MEMORY),
        },
        start=".claude/worktrees/w",
        worktree=".claude/worktrees/w",
    ),
    Fixture(
        "claude-code",
        "memories moved by the project",
        {
            ".claude/settings.local.json": json.dumps({"autoMemoryDirectory": "~/alt"}),
            **_plain(MEMORY, "~/alt/MEMORY.md", "~/alt/topic.md"),
        },
    ),
    Fixture(
        "claude-code",
        "everything switched off",
        _plain("~/.claude/CLAUDE.md", "CLAUDE.md", MEMORY),
        environ={"CLAUDE_CODE_DISABLE_CLAUDE_MDS": "1"},
    ),
    Fixture(
        "claude-code",
        "left out by settings",
        {
            "~/.claude/settings.json": json.dumps(
                {"claudeMdExcludes": ["**/sub/CLAUDE.md"], "autoMemoryEnabled": False}
            ),
            **_plain("CLAUDE.md", "sub/CLAUDE.md", MEMORY),
        },
        start="sub",
    ),
)
CODEX = (
    Fixture(
        "codex",
        "summary and instructions",
        {
            "~/.codex/memories/memory_summary.md": _index("line {:04} of the summary, which is long %\n", 400, "v1\n"),
            "~/.codex/memories/MEMORY.md": "# Task Group: a\n%\n",
            "~/.codex/AGENTS.md": _index("line {:04} of the user's own instructions, all of them %\n", 800),
            "AGENTS.md": "%\n",
            "sub/AGENTS.override.md": "%\n",
            "sub/AGENTS.md": "%\n",
            "sub/deep/AGENTS.md": _index("line {:04} of a folder, cut at what is left of the budget %\n", 800),
            "~/AGENTS.md": "%\n",
        },
        start="sub/deep",
    ),
    Fixture(
        "codex",
        "links and the newer folder",
        _plain("~/dotfiles/.git/HEAD", "~/dotfiles/A.md", "~/work/B.md", "~/.codex/memories_v2/memory_summary.md"),
        links={"~/.codex/AGENTS.md": "~/dotfiles/A.md", "AGENTS.md": "~/work/B.md"},
    ),
    Fixture(
        "codex",
        "both folders",
        _plain("~/.codex/memories_v2/memory_summary.md", "~/.codex/memories/memory_summary.md"),
    ),
    Fixture("codex", "no checkout", _plain("~/p/AGENTS.md", "~/p/q/AGENTS.md"), start="~/p/q", is_checkout=False),
)
_GEMINI = {"~/.gemini/projects.json": '{"projects": {"@T@/h/u/app": "app"}}'}
GEMINI = (
    Fixture(
        "gemini",
        "instructions and imports",
        {
            "~/.gemini/GEMINI.md": "%\n@./near.md @~/out.md @../rel.md\n",
            "GEMINI.md": "%\n@docs/x.md @./docs/x.md @docs/c.md, @docs/f.md#p **@docs/b.md** @_u.md @img.png\n"
            "@../out.md\n",
            "sub/GEMINI.md": "%\n@../docs/x.md @z.md\n",
            **_plain("~/.gemini/near.md", "~/out.md", "~/rel.md", "docs/x.md", "docs/c.md", "docs/f.md", "docs/b.md"),
            **_plain("_u.md", "img.png", "sub/z.md", "~/GEMINI.md", "sub/deep/GEMINI.md", "AGENTS.md"),
        },
        start="sub",
    ),
    Fixture(
        "gemini",
        "memories",
        {
            **_GEMINI,
            "~/.gemini/tmp/app/memory/MEMORY.md": "%\n- @topic.md\n- [b](b.md)\n",
            **_plain("~/.gemini/tmp/app/memory/topic.md", "~/.gemini/tmp/app/memory/b.md", "GEMINI.md"),
            **_plain("~/.gemini/tmp/app/memory/GEMINI.md", "~/.gemini/GEMINI.md"),
        },
    ),
    Fixture(
        "gemini",
        "links",
        {
            "~/dotfiles/G.md": "%\n@near.md @./beside.md @~/notes/x.md @@T@/h/u/.gemini/abs.md\n",
            **_plain("~/dotfiles/.git/HEAD", "~/dotfiles/near.md", "~/.gemini/near.md", "~/.gemini/beside.md"),
            **_plain("~/notes/x.md", "~/.gemini/abs.md", "~/work/P.md"),
        },
        links={"~/.gemini/GEMINI.md": "~/dotfiles/G.md", "GEMINI.md": "~/work/P.md"},
    ),
)
QWEN_CODE = (
    Fixture(
        "qwen-code",
        "instructions, rules and the order by name",
        {
            "~/.qwen/output-language.md": "# Output\n<!-- qwen-code:llm-output-language: German -->\n%\n",
            "~/.qwen/rules/some.md": '---\npaths:\n  - "src/**"\n---\n%\n',
            ".qwen/rules/every.md": '---\npaths: "**"\n---\n%\n',
            ".qwen/rules/a.md": "---\ndescription: %\n---\n%\n<!-- %\n-->\n@../../x.md\n",
            "QWEN.md": "%\n@x.md @x.md @c.md,\n",
            "~/.qwen/memories/MEMORY.md": _index("- [a{}](a.md) %\n", 205),
            "~/.qwen/projects/@S@/memory/MEMORY.md": "- [a](a.md) %\n",
            **_plain(
                "~/.qwen/QWEN.md", "~/.qwen/AGENTS.md", "~/.qwen/rules/r.md", "~/QWEN.md", "~/AGENTS.md", "^/h/QWEN.md"
            ),
            **_plain("x.md", "c.md", "AGENTS.md", "sub/QWEN.md", "sub/AGENTS.md", ".qwen/QWEN.local.md"),
            **_plain("sub/.qwen/rules/s.md", "sub/.qwen/QWEN.local.md", "sub/deep/QWEN.md"),
        },
        start="sub",
    ),
    Fixture("qwen-code", "a first line that is too long", {"~/.qwen/projects/@S@/memory/MEMORY.md": _FIRST}),
    Fixture(
        "qwen-code",
        "links",
        {
            "~/kept/QWEN.md": "%\n@near.md @~/notes/x.md\n",
            **_plain("~/kept/.git/HEAD", "~/kept/near.md", "~/kept/rules/a.md", "~/kept/rules/d/b.md", "~/notes/x.md"),
            **_plain("~/.qwen/near.md", "~/team/t.md", "shared/s.md", ".qwen/rules/own.md"),
        },
        links={
            "~/.qwen/QWEN.md": "~/kept/QWEN.md",
            "~/.qwen/rules": "~/kept/rules",
            "~/kept/rules/team": "~/team",
            ".qwen/rules/s.md": "shared/s.md",
        },
    ),
    Fixture(
        "qwen-code", "no checkout", _plain("^/h/QWEN.md", "~/QWEN.md", "~/p/QWEN.md"), start="~/p", is_checkout=False
    ),
)
_RULE = "---\napplyTo: '{}'\n---\n%\n"
COPILOT = (
    Fixture(
        "copilot-cli",
        "instructions of all names",
        {
            "~/.copilot/instructions/all.instructions.md": _RULE.format("**"),
            "~/.copilot/instructions/py.instructions.md": _RULE.format("**/*.py"),
            ".github/instructions/all.instructions.md": _RULE.format("**"),
            ".github/instructions/py.instructions.md": _RULE.format("**/*.py"),
            "CLAUDE.md": "<!-- % -->\n@imp.md @imp.md @c.md, (@round.md) **@bold.md** @~/out.md `@code.md`\n",
            **_plain("imp.md", "c.md", "round.md", "bold.md", "~/out.md", "code.md", ".claude/CLAUDE.md"),
            **_plain("~/.copilot/copilot-instructions.md", "~/.copilot/instructions/none.instructions.md"),
            **_plain(".github/copilot-instructions.md", ".github/instructions/d/none.instructions.md", "AGENTS.md"),
            **_plain("GEMINI.md", "a/AGENTS.md", "a/CLAUDE.md", "a/b/AGENTS.md", "a/b/GEMINI.md", "~/AGENTS.md"),
            **_plain("a/.github/copilot-instructions.md", "a/b/.github/copilot-instructions.md", "a/b/c/AGENTS.md"),
            **_plain("a/.github/instructions/i.instructions.md", "a/b/.github/instructions/i.instructions.md"),
        },
        start="a/b",
    ),
    Fixture(
        "copilot-cli",
        "further folders",
        _plain("~/extra/AGENTS.md", "~/extra/x.instructions.md", "~/extra/.github/instructions/y.instructions.md"),
        environ={"COPILOT_CUSTOM_INSTRUCTIONS_DIRS": "@T@/h/u/extra"},
    ),
    Fixture(
        "copilot-cli",
        "links",
        _plain("~/kept/.git/HEAD", "~/kept/c.md", "~/kept/more/a.instructions.md"),
        links={"~/.copilot/copilot-instructions.md": "~/kept/c.md", "~/.copilot/instructions": "~/kept/more"},
    ),
)
OPENCODE = (
    Fixture(
        "opencode",
        "AGENTS.md up to the checkout",
        _plain(
            "~/.config/opencode/AGENTS.md",
            "~/.claude/CLAUDE.md",
            "~/AGENTS.md",
            "AGENTS.md",
            "CLAUDE.md",
            "sub/AGENTS.md",
            "sub/deep/CLAUDE.md",
            "sub/deep/further/AGENTS.md",
        ),
        start="sub/deep",
    ),
    Fixture(
        "opencode",
        "CLAUDE.md and named instructions",
        {
            "opencode.json": json.dumps(
                {"instructions": ["rules/*.md", "@T@/h/u/abs.md", "~/mine.md", "sub/../up.md"]}
            ),
            "sub/opencode.json": _instructions("near.md", "gone.md"),
            ".opencode/opencode.json": _instructions("./dot.md"),
            "sub/CLAUDE.md": "%\n@../docs.md\n",
            **_plain("~/.claude/CLAUDE.md", "~/CLAUDE.md", "CLAUDE.md", "docs.md", "rules/a.md", "sub/rules/b.md"),
            **_plain("~/abs.md", "~/mine.md", "up.md", "near.md", "sub/near.md", "dot.md", "rules/d/deep.md"),
        },
        start="sub",
    ),
    Fixture(
        "opencode",
        "no checkout",
        {
            **{
                f"~/{name}opencode.json": _instructions(f"{at}.md")
                for at, name in enumerate(("", "p/", "p/.opencode/"))
            },
            **_plain("~/AGENTS.md", "~/p/AGENTS.md", "~/p/q/AGENTS.md", "~/0.md", "~/p/1.md", "~/p/q/2.md"),
        },
        start="~/p/q",
        is_checkout=False,
    ),
    Fixture(
        "opencode",
        "settings of all places",
        {
            "~/.config/opencode/config.json": _instructions("never.md"),
            "~/.config/opencode/opencode.jsonc": _instructions("1.md"),
            "~/conf.json": _instructions("2.md", "@T@/h/u/abs.md"),
            "opencode.json": _instructions("3.md"),
            "sub/opencode.jsonc": _instructions("4.md"),
            "sub/.opencode/opencode.json": _instructions("5.md"),
            ".opencode/opencode.json": _instructions("6.md"),
            "~/.opencode/opencode.json": _instructions("7.md"),
            "~/moved/opencode.json": _instructions("8.md"),
            **_plain("~/.config/opencode/AGENTS.md", "~/moved/AGENTS.md", "AGENTS.md", "~/abs.md", "never.md"),
            **_plain(*(f"{number}.md" for number in range(1, 10))),
        },
        start="sub",
        environ={
            "OPENCODE_CONFIG": "@T@/h/u/conf.json",
            "OPENCODE_CONFIG_DIR": "@T@/h/u/moved",
            "OPENCODE_CONFIG_CONTENT": _instructions("9.md"),
        },
    ),
    Fixture(
        "opencode",
        "nothing of Claude Code's",
        _plain("~/.claude/CLAUDE.md", "CLAUDE.md", "CONTEXT.md"),
        environ={"OPENCODE_DISABLE_CLAUDE_CODE_PROMPT": "true"},
    ),
    Fixture(
        "opencode",
        "nothing of Claude Code's, in short",
        _plain("~/.claude/CLAUDE.md", "CLAUDE.md"),
        environ={"OPENCODE_DISABLE_CLAUDE_CODE": "yes"},
    ),
    Fixture(
        "opencode",
        "nothing of the project's",
        {
            "opencode.json": _instructions("p.md"),
            ".opencode/opencode.json": _instructions("p.md"),
            "~/conf.json": _instructions("rel.md", "@T@/h/u/app/abs.md"),
            **_plain("AGENTS.md", "CLAUDE.md", "p.md", "rel.md", "abs.md", "~/.config/opencode/rel.md"),
        },
        environ={"OPENCODE_DISABLE_PROJECT_CONFIG": "1", "OPENCODE_CONFIG": "@T@/h/u/conf.json"},
    ),
    Fixture(
        "opencode",
        "nothing of the project's, and a folder elsewhere",
        {
            "~/moved/opencode.json": _instructions("rel.md"),
            **_plain("AGENTS.md", "rel.md", "~/moved/rel.md", "~/.config/opencode/AGENTS.md", "~/.claude/CLAUDE.md"),
        },
        environ={"OPENCODE_DISABLE_PROJECT_CONFIG": "1", "OPENCODE_CONFIG_DIR": "@T@/h/u/moved"},
    ),
    Fixture(
        "opencode",
        "a link",
        _plain("~/kept/.git/HEAD", "~/kept/A.md"),
        links={"~/.config/opencode/AGENTS.md": "~/kept/A.md"},
    ),
)
FIXTURES = (*CLAUDE_CODE, *CODEX, *GEMINI, *QWEN_CODE, *COPILOT, *OPENCODE)
