#include "report/page_parts.hpp"

namespace caffe {

std::string PageStyle() {
  return R"(
:root { color-scheme: light dark;
  --page: #f6f7f9; --card: #ffffff; --ink: #1b2430; --soft: #5b6675;
  --rule: #dde2e8; --grid: #e9edf1;
  --c0: #2563eb; --c1: #d97706; --c2: #059669; --c3: #dc2626; --c4: #7c3aed;
  --c5: #0891b2; --c6: #be185d; --c7: #4d7c0f; --c8: #94a3b8; --c9: #92400e; }
@media (prefers-color-scheme: dark) { :root {
  --page: #12161c; --card: #1b212a; --ink: #e6eaf0; --soft: #9aa6b5;
  --rule: #323b47; --grid: #28303a;
  --c0: #6ea0ff; --c1: #f5a742; --c2: #34d399; --c3: #f87171; --c4: #b795ff;
  --c5: #45cbe6; --c6: #f17bb0; --c7: #a3c95a; --c8: #7b8794; --c9: #c98a5b; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink);
  font: 15px/1.45 system-ui, "DejaVu Sans", Arial, sans-serif; }
main { max-width: 1360px; margin: 0 auto; padding: 20px; }
h1 { font-size: 24px; margin: 4px 0; overflow-wrap: anywhere; }
h2 { font-size: 18px; margin: 32px 0 12px; }
.status { color: var(--soft); margin: 0 0 16px; overflow-wrap: anywhere; }
.status.failed { color: var(--c3); }
.tiles { display: flex; flex-wrap: wrap; gap: 10px; }
.tile { background: var(--card); border: 1px solid var(--rule);
  border-radius: 8px; padding: 8px 14px; min-width: 120px; max-width: 100%; }
.tile b { display: block; font-size: 20px; font-variant-numeric: tabular-nums; }
.tile span { color: var(--soft); font-size: 13px; overflow-wrap: anywhere; }
.charts { display: grid; gap: 14px;
  grid-template-columns: repeat(auto-fit, minmax(min(100%, 480px), 1fr)); }
figure { margin: 0; background: var(--card); border: 1px solid var(--rule);
  border-radius: 8px; padding: 8px; min-width: 0; }
figure.wide { grid-column: 1 / -1; }
figcaption { color: var(--soft); font-size: 13px; padding: 2px 10px 6px; }
svg.chart { display: block; width: 100%; height: auto; max-width: 800px;
  margin: 0 auto; }
svg text { font: 12px system-ui, "DejaVu Sans", Arial, sans-serif;
  fill: var(--soft); }
svg .title { font-size: 13px; font-weight: 600; fill: var(--ink); }
svg .legend, svg .inside { fill: var(--ink); }
svg .tick { font-variant-numeric: tabular-nums; }
.grid { stroke: var(--grid); } .axis { stroke: var(--soft); }
.mark { stroke: var(--soft); stroke-dasharray: 3 3; opacity: .7; }
.mark.alarm { stroke: var(--c3); } .mark.batch_size { stroke: var(--c4); }
.line { fill: none; stroke: var(--c); stroke-width: 1.8;
  stroke-linejoin: round; stroke-linecap: round; }
.line.faint { stroke-width: 1; }
.faint { opacity: .45; }
.area { fill: var(--c); }
.hover { fill: transparent; }
rect.hover:hover { fill: var(--ink); fill-opacity: .12; }
.c0 { --c: var(--c0); } .c1 { --c: var(--c1); } .c2 { --c: var(--c2); }
.c3 { --c: var(--c3); } .c4 { --c: var(--c4); } .c5 { --c: var(--c5); }
.c6 { --c: var(--c6); } .c7 { --c: var(--c7); } .c8 { --c: var(--c8); }
.c9 { --c: var(--c9); }
.scroll { overflow-x: auto; background: var(--card);
  border: 1px solid var(--rule); border-radius: 8px; }
table { border-collapse: collapse; font-size: 13px; width: 100%; }
th, td { padding: 4px 10px; text-align: right; white-space: nowrap;
  border-bottom: 1px solid var(--grid); font-variant-numeric: tabular-nums; }
th { color: var(--soft); font-weight: 600; }
.text { text-align: left; }
td.long { white-space: normal; overflow-wrap: anywhere; min-width: 240px; }
td svg { display: block; margin-left: auto; }
details { margin: 10px 0; }
summary { cursor: pointer; color: var(--soft); }
pre { background: var(--card); border: 1px solid var(--rule);
  border-radius: 8px; padding: 12px; overflow-x: auto; font-size: 12px; }
@media print { .scroll { overflow: visible; } figure { break-inside: avoid; } }
)";
}

}  // namespace caffe
