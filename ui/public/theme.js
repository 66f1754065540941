// Runs before the first paint, so that a kept choice of theme does not flash.
(() => {
  const kept = localStorage.getItem("plait.theme");
  if (kept === "dark" || kept === "light") document.documentElement.dataset.theme = kept;
})();
