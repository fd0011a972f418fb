// What the checks of pages in a real browser share.
import { createRequire } from "node:module";
import { join, resolve } from "node:path";

/// The options of `parseArgs` that say where the browser is.
export const BROWSER = {
  modules: { type: "string", default: "." },
  chromium: { type: "string", default: "/usr/bin/chromium" },
};

/// Starts Chromium by the playwright-core in the folder `modules`. It finds no other host.
export function launch({ modules, chromium }) {
  const driver = createRequire(join(resolve(modules), "page.js"))("playwright-core");
  return driver.chromium.launch({ executablePath: chromium, args: ["--no-sandbox", "--disable-gpu", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"] });
}

/// Returns a new page. A busy machine is no fault of what it shows.
export async function open(browser, view = {}) {
  const page = await browser.newPage({ ...view, reducedMotion: "reduce" });
  page.setDefaultTimeout(120_000);
  return page;
}

/// Opens a page at each width, in both colour schemes, with and without scripts, and calls `look` with it and its name.
export async function inEachView(browser, look) {
  for (const javaScriptEnabled of [false, true]) {
    for (const colorScheme of ["dark", "light"]) {
      for (const width of [360, 1280]) {
        const name = `${width} px, ${colorScheme}, ${javaScriptEnabled ? "with" : "without"} scripts`;
        const view = { javaScriptEnabled, colorScheme, viewport: { width, height: 900 } };
        const page = await open(browser, view);
        await look(page, name, view);
        await page.close();
      }
    }
  }
}

/// Returns what is wrong with a page, whatever it shows. Runs in the page, also where its own scripts are off or forbidden.
export function faults() {
  const found = [];
  const isShown = (element) => element.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  if (!document.documentElement.lang) found.push("the page has no `lang`");
  if (!document.title) found.push("the page has no title");
  const heads = [...document.querySelectorAll("h1, h2, h3, h4, h5, h6")].filter(isShown).map((head) => Number(head.tagName[1]));
  heads.forEach((level, index) => {
    if (level > (heads[index - 1] ?? 0) + 1) found.push(`heading ${index + 1} has level ${level} after ${heads[index - 1] ?? "none"}`);
  });
  if (heads.filter((level) => level === 1).length !== 1) found.push("the page has not one main heading");
  for (const image of document.images) {
    if (image.complete && !image.naturalWidth) found.push(`an image is not shown: ${image.src}`);
  }
  for (const link of document.querySelectorAll("a[href^='#']")) {
    if (!document.getElementById(decodeURIComponent(link.hash.slice(1)))) found.push(`a link leads nowhere: ${link.getAttribute("href")}`);
  }

  // A part may be too wide although the page does not scroll: what clips it hides it. Only code, tables and drawings scroll.
  const width = document.documentElement.clientWidth;
  const mayScroll = (element) => element.matches("pre, code, :has(> table, > img)") && getComputedStyle(element).overflowX !== "visible";
  const isApart = (element) => {
    for (let outer = element.parentElement; outer; outer = outer.parentElement) {
      if (mayScroll(outer) || getComputedStyle(outer).clipPath !== "none") return true;
    }
    return getComputedStyle(element).clipPath !== "none";
  };
  const wide = [...document.body.querySelectorAll("*")].filter((element) => element.getBoundingClientRect().right > width + 1);
  const widest = wide.find((element) => isShown(element) && !isApart(element));
  if (widest) {
    const over = Math.round(widest.getBoundingClientRect().right - width);
    found.push(`the page is ${over} px too wide at ${width} px: ${widest.outerHTML.slice(0, 80)}`);
  }
  for (let outer = document.querySelector("main"); outer; outer = outer.parentElement) {
    const over = outer.scrollWidth - outer.clientWidth;
    if (over > 1 && !widest) found.push(`the page is ${over} px too wide at ${width} px, in ${outer.tagName} ${outer.className}`);
  }
  return found;
}

/// Returns the text that contrasts with its background by less than `least`. Runs in the page.
export function paleText(least) {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const [known, surfaces] = [new Map(), new Map()];
  /// Returns red, green and blue from 0 to 255, and the opacity from 0 to 1, of any colour of CSS.
  const colour = (text) => {
    if (!known.has(text)) {
      canvas.clearRect(0, 0, 1, 1);
      canvas.fillStyle = text;
      canvas.fillRect(0, 0, 1, 1);
      const [red, green, blue, alpha] = canvas.getImageData(0, 0, 1, 1).data;
      known.set(text, [red, green, blue, alpha / 255]);
    }
    return known.get(text);
  };
  const over = (top, below) => [0, 1, 2].map((part) => top[part] * top[3] + below[part] * (1 - top[3]));
  /// Returns what is behind an element's text, and how opaque it is.
  const surface = (element) => {
    if (!element) return { below: colour("Canvas"), opacity: 1 };
    if (!surfaces.has(element)) {
      const [outer, style] = [surface(element.parentElement), getComputedStyle(element)];
      surfaces.set(element, { below: over(colour(style.backgroundColor), outer.below), opacity: outer.opacity * Number(style.opacity) });
    }
    return surfaces.get(element);
  };
  const luminance = (parts) => {
    const [red, green, blue] = parts.map((part) => part / 255).map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const found = new Set();
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const element = texts.currentNode.parentElement;
    if (!texts.currentNode.data.trim() || !element.checkVisibility({ visibilityProperty: true }) || element.closest("svg")) continue;
    const { below, opacity } = surface(element);
    const { color } = getComputedStyle(element);
    const [red, green, blue, alpha] = colour(color);
    const [dark, light] = [over([red, green, blue, alpha * opacity], below), below].map(luminance).sort((a, b) => a - b);
    const contrast = (light + 0.05) / (dark + 0.05);
    if (contrast < least) found.add(`text has a contrast of ${contrast.toFixed(2)}: ${color} on rgb(${below.map(Math.round)})`);
  }
  return [...found];
}
