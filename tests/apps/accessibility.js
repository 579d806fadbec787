// What is wrong with the page that is shown: names, labels, ids, headings, contrast.
() => {
  const wrong = [];
  const seen = (element) => element.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  const where = (element) => `${element.tagName.toLowerCase()}.${element.getAttribute("class") ?? ""} "${element.textContent.trim().slice(0, 40)}"`;

  const ids = [...document.querySelectorAll("[id]")].map((element) => element.id);
  for (const id of new Set(ids.filter((id, at) => ids.indexOf(id) !== at))) wrong.push(`two elements are #${id}`);

  for (const element of document.querySelectorAll("button, a, [role=button], [role=tab]")) {
    const name = element.getAttribute("aria-label") ?? element.textContent;
    if (!name.trim()) wrong.push(`no name: ${where(element)}`);
  }
  for (const element of document.querySelectorAll("input, select, textarea")) {
    if (!element.labels?.length && !element.getAttribute("aria-label")) wrong.push(`no label: ${where(element)}`);
  }
  for (const image of document.querySelectorAll("img")) if (!image.hasAttribute("alt")) wrong.push("an image without alt");
  for (const reference of ["aria-labelledby", "aria-describedby", "aria-controls"]) {
    for (const element of document.querySelectorAll(`[${reference}]`)) {
      if (!document.getElementById(element.getAttribute(reference))) wrong.push(`${reference} of ${where(element)} leads nowhere`);
    }
  }
  if (document.querySelectorAll("h1").length !== 1) wrong.push("not one h1");
  if (!document.documentElement.lang) wrong.push("no language");
  for (const element of document.querySelectorAll("[tabindex]")) if (element.tabIndex > 0) wrong.push("an order of focus of its own");

  const pen = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const colour = (text) => {
    pen.clearRect(0, 0, 1, 1);
    pen.fillStyle = text;
    pen.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = pen.getImageData(0, 0, 1, 1).data;
    return { rgb: [r, g, b], alpha: a / 255 };
  };
  const over = (top, under) => top.rgb.map((value, at) => value * top.alpha + under[at] * (1 - top.alpha));
  const ground = (element) => {
    if (!element) return colour(getComputedStyle(document.body).backgroundColor).rgb;
    const own = colour(getComputedStyle(element).backgroundColor);
    return own.alpha === 1 ? own.rgb : over(own, ground(element.parentElement));
  };
  const light = (rgb) => {
    const [r, g, b] = rgb.map((value) => value / 255).map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || element.closest("svg, script, noscript, .unseen, .skip") || !seen(element)) continue;
    const under = ground(element);
    const pair = [light(over(colour(getComputedStyle(element).color), under)), light(under)];
    const contrast = (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05);
    if (contrast < 4.5) wrong.push(`contrast ${contrast.toFixed(2)}: ${where(element)}`);
  }
  return wrong;
}
