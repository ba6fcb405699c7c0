// What every page does besides: print, formulas, outline.
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

// A link of the page's outline closes the outline, which would cover the page.
document.addEventListener("click", (event) => {
  const link = event.target.closest("dialog a[href^='#']");
  link?.closest("dialog").close();
});
