// Runs before the first paint, so that no other theme flashes. Without a choice, the system's theme holds.
const chosen = localStorage.getItem("tollgate-theme");
if (chosen === "dark" || chosen === "light") document.documentElement.dataset.theme = chosen;
