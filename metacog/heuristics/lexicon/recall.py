"""What a request for more steps says about itself, beside what fills it (lexicon/extension.py): no memory holds it.

Ours, from asking how a need for data is put and what it is said to be for. Folded; Chinese in simplified characters.
"""


def _listed(listed: str) -> tuple[str, ...]:
    return tuple(listed.split())


ASKING = frozenset(
    _listed("""
    argument arguments back claim claims core data detail details evidence fact facts figure figures information key
    lack lacking main miss missing number numbers point points prove proof purpose settle support supporting
    """)
)
ZH_ASKING = _listed("""
    核心 关键 论据 论点 论证 依据 支持 支撑 证明 缺乏 缺少 欠缺 缺 准许 数据 资料 资讯 信息 数字 证据 事实 细节
""")
