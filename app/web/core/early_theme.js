// Not a module: it runs before the first paint, so that a dark room is never lit by a white page.
(function () {
  try {
    const theme = localStorage.getItem("kibitz.theme");
    if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
  } catch {
    // A browser that keeps nothing for pages shows the theme of its system.
  }
})();
