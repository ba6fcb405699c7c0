// What every page does besides: print, formulas, pictures, search.
"use strict";

// On paper the colors are those of the light theme.
let theme;
window.addEventListener("beforeprint", () => {
  theme = document.documentElement.dataset.theme;
  document.documentElement.dataset.theme = "light";
});
window.addEventListener("afterprint", () => {
  document.documentElement.dataset.theme = theme;
});

// A formula that is too wide is made smaller. If that is not enough, it
// scrolls in its box: also by keyboard.
document.fonts.ready.then(() => {
  document.querySelectorAll(".formula").forEach((formula) => {
    const share = formula.clientWidth / formula.scrollWidth;
    if (share < 1) {
      formula.style.fontSize = `${Math.max(share * 0.92, 0.65)}em`;
    }
    if (formula.scrollWidth > formula.clientWidth) {
      formula.tabIndex = 0;
    }
  });
});

// A figure that is small on a telephone opens by itself, to be enlarged.
document.querySelectorAll("article img").forEach((image) => {
  if (!image.closest("a")) {
    const link = document.createElement("a");
    link.href = image.src;
    image.replaceWith(link);
    link.append(image);
  }
});

// The search page quotes a page's text: neither its menus nor its answers.
if (typeof Search !== "undefined") {
  Search.htmlToText = (source, anchor) => {
    const page = new DOMParser().parseFromString(source, "text/html");
    const article = page.querySelector("article");
    article
      .querySelectorAll(".headerlink, script, style, details[class]")
      .forEach((part) => part.remove());
    const section = anchor && article.querySelector(anchor);
    return (section || article).textContent;
  };
}

// A link of the page's outline closes the outline, which would cover the page.
document.addEventListener("click", (event) => {
  const link = event.target.closest("dialog a[href^='#']");
  link?.closest("dialog").close();
});
