// SPDX-License-Identifier: BSD-3-Clause
// Runs in a report page. Cells hold their number in data-v, so that tables sort and save exact
// values. A communication picture holds its amounts in data-amounts of the box that covers it.
(() => {
  'use strict';
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const valueOf = cell => cell.dataset.v ?? cell.textContent.trim();

  const sortBy = (table, column) => {
    const heading = table.rows[0].cells[column];
    const down = heading.getAttribute('aria-sort') === 'ascending';
    for (const other of table.rows[0].cells) other.removeAttribute('aria-sort');
    heading.setAttribute('aria-sort', down ? 'descending' : 'ascending');
    const isFull = row => row.cells.length > column && !row.cells[column].classList.contains('why');
    const compare = (a, b) => {
      if (isFull(a) !== isFull(b)) return isFull(a) ? -1 : 1;
      if (!isFull(a)) return 0;
      const x = valueOf(a.cells[column]), y = valueOf(b.cells[column]);
      const order = isNaN(x) || isNaN(y) ? x.localeCompare(y) : x - y;
      return down ? -order : order;
    };
    const rows = [...table.rows].slice(1).sort(compare);
    for (const row of rows) row.parentNode.append(row);
  };
  for (const table of all('table.sortable'))
    [...table.rows[0].cells].forEach((heading, column) => {
      const button = document.createElement('button');
      button.append(...heading.childNodes);
      button.title = 'Sort by this column';
      button.addEventListener('click', () => sortBy(table, column));
      heading.append(button);
    });

  const save = (name, type, text) => {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([text], {type}));
    link.download = name;
    link.click();
    URL.revokeObjectURL(link.href);
  };
  const quoted = text => /[",\n]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
  const csvOf = table => {
    const name = table.dataset.name;
    return [...table.rows]
        .map(
            (row,
             r) => [r === 0 ? 'table' : name, ...[...row.cells].map(valueOf)].map(quoted).join(','))
        .join('\n');
  };
  const tools = document.querySelector('.tools');
  if (tools) {
    tools.hidden = false;
    const json = document.getElementById('data');
    tools.querySelector('.json').addEventListener(
        'click', () => save('poise.json', 'application/json', json.textContent));
    tools.querySelector('.csv').addEventListener(
        'click',
        () => save('poise.csv', 'text/csv', all('table.sortable').map(csvOf).join('\n') + '\n'));
  }

  const note = document.createElement('div');
  note.className = 'note';
  note.hidden = true;
  document.body.append(note);
  const show = (event, text) => {
    note.hidden = !text;
    note.textContent = text;
    note.style.left = Math.min(event.clientX + 14, innerWidth - note.offsetWidth - 8) + 'px';
    note.style.top = event.clientY + 14 + 'px';
  };
  const units = [['GB', 1e9], ['MB', 1e6], ['kB', 1e3], ['B', 1]];
  const bytes = amount => {
    const [name, size] = units.find(([, size]) => amount >= size) ?? units[3];
    return Number((amount / size).toPrecision(4)) + ' ' + name;
  };
  for (const box of all('[data-amounts]')) {
    const amounts = box.dataset.amounts.split(',').map(Number);
    const n = Number(box.dataset.groups), group = box.dataset.name;
    box.addEventListener('pointermove', event => {
      const area = box.getBoundingClientRect();
      const cell = (at, side) => Math.min(n - 1, Math.max(0, Math.floor(n * at / side)));
      const from = cell(event.clientY - area.top, area.height);
      const to = cell(event.clientX - area.left, area.width);
      const amount = amounts[from * n + to];
      const text = box.dataset.unit === 'bytes' ? bytes(amount) : amount + ' messages';
      show(event, `${group} ${from} to ${group} ${to}: ${text}`);
    });
    box.addEventListener('pointerleave', event => show(event, ''));
  }
  for (const mark of all('svg [data-note]')) {
    mark.addEventListener('pointermove', event => show(event, mark.dataset.note));
    mark.addEventListener('pointerleave', event => show(event, ''));
  }
})();
