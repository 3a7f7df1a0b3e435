"""Short code of node, perl, ruby and php: what is on a list is read, everything else is unknown."""

from metacog.heuristics.effects import snippets
from tests.tables import table

CODE = [
    ("node", "console.log(require('./package.json').version)", ""),
    ("node", "const {sum} = require('./src/sum'); console.log([1, 2].map(x => sum(x)))", ""),
    ("node", "const fs = require('fs'); console.log(JSON.parse(fs.readFileSync('a.json')).b)", "read:a.json"),
    ("node", "import {rmSync as r} from 'node:fs'; r('a')", "delete:a"),
    ("node", "console.log(`a ${require('fs').readFileSync('.env')}`)", "read:.env"),
    ("node", "require('child_process').execSync('rm -rf a')", "run:rm -rf a"),
    ("node", "require('child_process').execSync('rm ' + x)", "unknown"),
    ("node", "[].constructor.constructor('x')()", "unknown"),
    ("node", "const k = 'con' + 'structor'; [][k][k]('x')()", "unknown"),
    ("node", "['a'].forEach(fs.unlinkSync)", "unknown"),
    ("node", "require('shelljs').rm('a')", "unknown"),
    ("node", "console.log(process.env)", "secret:environment"),
    ("node", "fetch('https://a.example', {method: 'POST'})", "send:https://a.example"),
    ("node", "eval('1')", "unknown"),
    ("perl", "print if /unlink|rmtree/", ""),
    ("perl", "s/(\\d+)/$1 + 1/ge; s{a}{b}", ""),
    ("perl", "$h{unlink}++; print $h{a}", ""),
    ("perl", "map { unlink } @x", "unknown"),
    ("perl", "s/x/unlink('a')/e", "unknown"),
    ("perl", 'print "@{[ unlink 1 ]} $h{unlink 2}"', "unknown"),
    ("perl", "/(?{ system('x') })/", "unknown"),
    ("perl", "print `ls`", "run:ls"),
    ("perl", "@ARGV = ('rm x|'); print <>", "unknown"),
    ("ruby", "puts %w[sudo rm].join(' '); x = [1].map { |y| y * 2 }", ""),
    ("ruby", "require 'app'; p App::Money.new(5).to_s", ""),
    ("ruby", "require 'app'; x ? 1 : system('rm')", "unknown"),
    ("ruby", "require 'app'; User.all.each(&:destroy)", "unknown"),
    ("ruby", "puts \"#{system('x')}\"", "unknown"),
    ("ruby", "puts File.read('.env')", "read:.env"),
    ("ruby", "FileUtils.rm_rf 'x'", "unknown"),
    ("php", "require 'vendor/autoload.php'; var_dump((new App\\Cart)->total());", ""),
    ("php", "require 'a.php'; echo 'x' . system('rm');", "unknown"),
    ("php", "$f = 'system'; $f('x');", "unknown"),
    ("R", "testthat::test_dir('tests')", ""),
    ("R", "devtools::install_github('a/b')", "unknown"),
    ("debugger", "thread apply all bt", ""),
    ("debugger", "shell rm x", "unknown"),
    ("ed", "%s/a/b/g\nw\nq\n", ""),
    ("ed", "/a :b/a\n  x\n.\nw\nq\n", ""),
    ("ed", "$a\nx!\n.\nw\n", ""),
    ("ed", "/a/a\n!rm x\n.\nw\n", "unknown"),
    ("ed", "9a\n1,$w /etc/x\n.\nq\n", "unknown"),
    ("ed", "%s/a/\\=system('rm')/", "unknown"),
    ("ed", "w !sh", "unknown"),
    ("lua", "print(1)", ""),
    ("lua", "os.execute('rm')", "unknown"),
]


FRESH = (
    "const fs = require('fs'), os = require('os'), path = require('path');"
    " const d = fs.mkdtempSync(path.join(os.tmpdir(), 'a-'));"
)
CODE += [
    ("node", f"{FRESH} fs.rmSync(d, {{recursive: true}})", "write:/tmp/tmp.XXXXXXXXXX delete:/tmp/tmp.XXXXXXXXXX"),
    ("node", f"{FRESH} (d => fs.rmSync(d))('/a')", "write:/tmp/tmp.XXXXXXXXXX delete:$path"),
    ("node", f"{FRESH} {{ const d = '/a'; fs.rmSync(d) }}", "write:/tmp/tmp.XXXXXXXXXX delete:$path"),
    ("node", f"{FRESH} fs.renameSync('a', path.join(d, 'b'))", "write:/tmp/tmp.XXXXXXXXXX write:a write:$path"),
    ("node", f"{FRESH} fs.rmSync(path.dirname(d))", "write:/tmp/tmp.XXXXXXXXXX delete:$path"),
]


@table(("language", "code", "effects"), CODE)
def test_it_tells_what_short_code_does(language: str, code: str, effects: str) -> None:
    found = [
        f"run:{one.command}" if one.command is not None else one.effect + (f":{one.object}" if one.object else "")
        for one in snippets.read(language, code)
    ]
    assert " ".join(dict.fromkeys(found)) == effects
